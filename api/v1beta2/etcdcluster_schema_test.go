package v1beta2_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func testCreate(t *testing.T, c client.Client) {
	volume := claim("ReadWriteOnce")
	reserved := map[string]any{"etcd.database.coreos.com/x": "y"}
	for name, tc := range map[string]struct {
		name   string
		fields map[string]any
		want   string
	}{
		"size only":                 {},
		"no size":                   {fields: map[string]any{"spec.size": nil}, want: "spec.size"},
		"no spec":                   {fields: map[string]any{"spec": nil}, want: "spec"},
		"size 1":                    {fields: map[string]any{"spec.size": int64(1)}},
		"size 9":                    {fields: map[string]any{"spec.size": int64(9)}},
		"size 0":                    {fields: map[string]any{"spec.size": int64(0)}, want: "greater than or equal to 1"},
		"size 10":                   {fields: map[string]any{"spec.size": int64(10)}, want: "less than or equal to 9"},
		"size -1":                   {fields: map[string]any{"spec.size": int64(-1)}, want: "greater than or equal to 1"},
		"size is text":              {fields: map[string]any{"spec.size": "3"}, want: "must be of type integer"},
		"version":                   {fields: map[string]any{"spec.version": "3.6.16"}},
		"version with v":            {fields: map[string]any{"spec.version": "v3.6.16"}},
		"version empty":             {fields: map[string]any{"spec.version": ""}},
		"version too old":           {fields: map[string]any{"spec.version": "3.2.13"}},
		"version latest":            {fields: map[string]any{"spec.version": "latest"}, want: "full version"},
		"version minor":             {fields: map[string]any{"spec.version": "3.6"}},
		"version minor with v":      {fields: map[string]any{"spec.version": "v3.6"}},
		"version major":             {fields: map[string]any{"spec.version": "3"}, want: "or a minor release such as 3.6"},
		"version without patch":     {fields: map[string]any{"spec.version": "3.6."}, want: "full version"},
		"version suffix":            {fields: map[string]any{"spec.version": "3.6.16-arm64"}, want: "full version"},
		"hibernate":                 {fields: map[string]any{"spec.hibernate": true, "spec.pod.persistentVolumeClaimSpec": volume}},
		"hibernate on emptyDirs":    {fields: map[string]any{"spec.hibernate": true}, want: "hibernate needs volumes"},
		"not to hibernate":          {fields: map[string]any{"spec.hibernate": false}},
		"52 characters":             {name: strings.Repeat("a", 52)},
		"53 characters":             {name: strings.Repeat("a", 53), want: "at most 52 characters"},
		"name with a dot":           {name: "my.cluster", want: "must start with a letter"},
		"name with a digit":         {name: "1st", want: "must start with a letter"},
		"label app":                 {fields: map[string]any{"spec.pod.labels": map[string]any{"app": "x"}}, want: "operator's own"},
		"label etcd_node":           {fields: map[string]any{"spec.pod.labels": map[string]any{"etcd_node": "x"}}, want: "own"},
		"label etcd_x":              {fields: map[string]any{"spec.pod.labels": map[string]any{"etcd_x": "x"}}, want: "own"},
		"label apple":               {fields: map[string]any{"spec.pod.labels": map[string]any{"apple": "x"}}},
		"TLS empty":                 {fields: map[string]any{"spec.TLS": map[string]any{}}},
		"tls":                       {fields: map[string]any{"spec.tls.static.operatorSecret": "s", "spec.TLS": map[string]any{}}},
		"tls and TLS":               {fields: map[string]any{"spec.tls.static.operatorSecret": "s", "spec.TLS.static.operatorSecret": "s"}, want: "tls or TLS, not both"},
		"auth off":                  {fields: map[string]any{"spec.auth.enabled": false}},
		"auth of nothing":           {fields: map[string]any{"spec.auth": map[string]any{}}, want: "spec.auth.enabled: Required"},
		"auth, plain":               {fields: map[string]any{"spec.auth.enabled": true}, want: "auth.enabled needs TLS for clients"},
		"plaintextClients, managed": {fields: map[string]any{"spec.tls.managed": map[string]any{}, "spec.tls.plaintextClients": "Allowed"}},
		"plaintextClients without TLS": {
			fields: map[string]any{"spec.tls.plaintextClients": "Allowed"}, want: "set tls.managed, or tls.static with member.serverSecret; or remove plaintextClients",
		},
		"plaintextClients, peers alone": {
			fields: map[string]any{"spec.tls.static.member.peerSecret": "p", "spec.tls.plaintextClients": "Allowed"},
			want:   "set tls.managed, or tls.static with member.serverSecret; or remove plaintextClients",
		},
		"plaintextClients, another word": {
			fields: map[string]any{"spec.tls.managed": map[string]any{}, "spec.tls.plaintextClients": "Maybe"}, want: "Unsupported value",
		},
		"auth, plaintextClients": {
			fields: map[string]any{"spec.auth.enabled": true, "spec.tls.managed": map[string]any{}, "spec.tls.plaintextClients": "Allowed"},
			want:   "auth.enabled needs clients that have certificates",
		},
		"auth, tls is empty": {fields: map[string]any{"spec.auth.enabled": true, "spec.tls": map[string]any{}}, want: "auth.enabled needs TLS for clients"},
		"auth, managed":      {fields: map[string]any{"spec.auth.enabled": true, "spec.tls.managed": map[string]any{}}},
		"auth, TLS of peers": {
			fields: map[string]any{"spec.auth.enabled": true, "spec.tls.static.member.peerSecret": "p"}, want: "auth.enabled needs TLS for clients",
		},
		"auth, static": {fields: map[string]any{"spec.auth.enabled": true, "spec.tls.static": map[string]any{
			"operatorSecret": "o", "member": map[string]any{"serverSecret": "s"},
		}}},
		"auth, legacy": {fields: map[string]any{"spec.auth.enabled": true, "spec.TLS.static": map[string]any{
			"operatorSecret": "o", "member": map[string]any{"serverSecret": "s"},
		}}},
		"auth, a Secret of no name": {
			fields: map[string]any{"spec.auth": map[string]any{"enabled": false, "rootPasswordSecretRef": map[string]any{}}}, want: "rootPasswordSecretRef.name: Required",
		},
		"antiAffinity":       {fields: map[string]any{"spec.pod.antiAffinity": true}},
		"antiAffinity text":  {fields: map[string]any{"spec.pod.antiAffinity": "yes"}, want: "must be of type boolean"},
		"domain":             {fields: map[string]any{"spec.pod.ClusterDomain": ".cluster.local"}},
		"domain empty":       {fields: map[string]any{"spec.pod.ClusterDomain": ""}},
		"domain without dot": {fields: map[string]any{"spec.pod.ClusterDomain": "cluster.local"}, want: "ClusterDomain must start with a dot"},
		"our domain, no dot": {fields: map[string]any{"spec.pod.clusterDomain": "cluster.local"}, want: "clusterDomain must start with a dot"},
		"two domains":        {fields: map[string]any{"spec.pod.ClusterDomain": ".a", "spec.pod.clusterDomain": ".a"}, want: "not both"},
		"one domain":         {fields: map[string]any{"spec.pod.ClusterDomain": "", "spec.pod.clusterDomain": ".a"}},
		"volume":             {fields: map[string]any{"spec.pod.persistentVolumeClaimSpec": volume}},
		"volume of no size":  {fields: map[string]any{"spec.pod.persistentVolumeClaimSpec": map[string]any{}}, want: "requests.storage is missing"},
		"a limit is no size": {
			fields: map[string]any{"spec.pod.persistentVolumeClaimSpec.resources.limits.storage": "1Gi"}, want: "requests.storage is missing",
		},
		"shared volume": {
			fields: map[string]any{"spec.pod.persistentVolumeClaimSpec": claim("ReadWriteOnce", "ReadWriteMany")},
			want:   "use ReadWriteOnce or ReadWriteOncePod",
		},
		"volume for one pod": {fields: map[string]any{"spec.pod.persistentVolumeClaimSpec": claim("ReadWriteOncePod")}},
		"etcdEnv":            {fields: map[string]any{"spec.pod.etcdEnv": env("ETCD_A", "value", "x")}},
		"etcdEnv of a Secret": {
			fields: map[string]any{"spec.pod.etcdEnv": env("ETCD_A", "valueFrom", map[string]any{"secretKeyRef": map[string]any{"name": "s", "key": "k"}})},
			want:   "instead of valueFrom",
		},
		"etcdEnv twice":  {fields: map[string]any{"spec.pod.etcdEnv": append(env("A", "value", "x"), env("A", "value", "y")...)}, want: "Duplicate value"},
		"our label":      {fields: map[string]any{"spec.pod.labels": reserved}, want: "pod.labels: the keys app, etcd_*"},
		"our annotation": {fields: map[string]any{"spec.pod.annotations": reserved}, want: "pod.annotations: the keys etcd.database"},
		"our volume's":   {fields: map[string]any{"spec.pod.volumeAnnotations": reserved}, want: "pod.volumeAnnotations: the keys"},
		"our Service's":  {fields: map[string]any{"spec.services.client.annotations": reserved}, want: "annotations: the keys etcd.database"},
		"annotation app": {fields: map[string]any{"spec.pod.annotations": map[string]any{"app": "x"}}},
		"IPv5":           {fields: map[string]any{"spec.services.peer.ipFamilies": []any{"IPv5"}}, want: "Unsupported value"},
		"part of a millisecond": {
			fields: map[string]any{"spec.etcd.heartbeatInterval": "1.5ms"}, want: "heartbeatInterval must be whole milliseconds",
		},
		"part of a second":                {fields: map[string]any{"spec.etcd.electionTimeout": "1.5s"}},
		"no quota":                        {fields: map[string]any{"spec.autopilot": map[string]any{"quota": map[string]any{"max": "0"}}}, want: "autopilot.quota.max must be greater than 0"},
		"no volume":                       {fields: map[string]any{"spec.autopilot": map[string]any{"volume": map[string]any{"max": "0"}}}, want: "autopilot.volume.max must be greater than 0"},
		"larger volumes":                  {fields: map[string]any{"spec.autopilot": map[string]any{"volume": map[string]any{"mode": "Advise", "max": "20Gi"}}}},
		"resources":                       {fields: sized(bounds{"mode": "Advise", "min": bounds{"cpu": "100m"}, "max": bounds{"cpu": int64(2), "memory": "4Gi"}}, "requests")},
		"resources by limits":             {fields: sized(bounds{"max": bounds{"cpu": "2", "memory": "4Gi"}}, "limits")},
		"resources of none":               {fields: sized(bounds{}, "requests")},
		"resources off":                   {fields: sized(bounds{"mode": "Off"}, "requests")},
		"resources unbounded":             {fields: sized(bounds{"mode": "On"}, "requests"), want: "give max, min or both"},
		"resources of a bound of nothing": {fields: sized(bounds{"max": bounds{}}, "requests"), want: "give cpu or memory in max, and cpu in min"},
		"resources, no CPU":               {fields: sized(bounds{"max": bounds{"cpu": "0"}}, "requests"), want: "cpu must be greater than 0"},
		"resources, less than no memory": {
			fields: sized(bounds{"min": bounds{"memory": "-1Gi"}}, "requests"), want: "memory must be greater than 0",
		},
		"resources, min above max": {
			fields: sized(bounds{"min": bounds{"cpu": "3"}, "max": bounds{"cpu": "2"}}, "requests"), want: "min.cpu must not be above max.cpu",
		},
		"resources, min of memory": {
			fields: sized(bounds{"min": bounds{"memory": "1Gi"}, "max": bounds{"memory": "2Gi"}}, "requests"), want: "memory is never lowered",
		},
		"resources of nothing": {
			fields: map[string]any{"spec.autopilot": map[string]any{"resources": bounds{"max": bounds{"memory": "2Gi"}}}}, want: "bounds memory, which pod.resources does not name",
		},
		"resources above max": {fields: sized(bounds{"max": bounds{"cpu": "500m"}}, "requests")},
		"resources below min": {
			fields: sized(bounds{"min": bounds{"cpu": "3"}}, "limits"),
		},
		"patches":          {fields: map[string]any{"spec.autopilot": map[string]any{"patches": map[string]any{"mode": "Advise"}}}},
		"patches Always":   {fields: map[string]any{"spec.autopilot": map[string]any{"patches": map[string]any{"mode": "Always"}}}, want: "Unsupported value"},
		"anomaly":          {fields: map[string]any{"spec.autopilot": map[string]any{"anomaly": map[string]any{"mode": "Off"}, "timers": map[string]any{"mode": "Advise"}}}},
		"anomaly Loud":     {fields: map[string]any{"spec.autopilot": map[string]any{"anomaly": map[string]any{"mode": "Loud"}}}, want: "Unsupported value"},
		"timers On":        {fields: map[string]any{"spec.autopilot": map[string]any{"timers": map[string]any{"mode": "On"}}}, want: "Unsupported value"},
		"negative request": {fields: map[string]any{"spec.etcd.maxRequestBytes": "-1Mi"}, want: "maxRequestBytes must not be negative"},
		"reclaim Retain":   {fields: map[string]any{"spec.volumeReclaimPolicy": "Retain"}},
		"reclaim Recycle":  {fields: map[string]any{"spec.volumeReclaimPolicy": "Recycle"}, want: "Unsupported value"},
		"election":         {fields: map[string]any{"spec.etcd.electionTimeout": "400ms"}, want: "five times"},
		"heartbeat":        {fields: map[string]any{"spec.etcd.heartbeatInterval": "300ms"}, want: "five times"},
		"timers": {fields: map[string]any{"spec.etcd": map[string]any{
			"heartbeatInterval": "300ms", "electionTimeout": "1.5s",
		}}},
		"long election":    {fields: map[string]any{"spec.etcd.electionTimeout": "1m"}, want: "at most 50s"},
		"no heartbeat":     {fields: map[string]any{"spec.etcd.heartbeatInterval": "0s"}, want: "at least 1ms"},
		"not a duration":   {fields: map[string]any{"spec.etcd.electionTimeout": "1 day"}, want: "should match"},
		"window":           {fields: window("0 2 * * 0", "2h30m", "Europe/Berlin")},
		"window of a word": {fields: window("@weekly", "10m", "")},
		"window every 2h":  {fields: window("@every 2h", "1h", ""), want: "@every has no time of day"},
		"window of 4":      {fields: window("0 2 * *", "1h", ""), want: "must have the five fields of cron"},
		"window with zone": {fields: window("TZ=UTC 0 2 * *", "1h", ""), want: "name the time zone in timeZone"},
		"local window":     {fields: window("0 2 * * *", "1h", "Local"), want: "one of the IANA database"},
		"window of a year": {fields: window("0 2 * * *", "8760h", ""), want: "must be 168h at most"},
		"short window":     {fields: window("0 2 * * *", "9m59s", ""), want: "must be 10m at least"},
		"window of a day":  {fields: window("0 2 * * *", "1 day", ""), want: "should match"},
		"endless window":   {fields: map[string]any{"spec.maintenanceWindow.schedule": "@daily"}, want: "duration: Required"},
		"autopilot":        {fields: map[string]any{"spec.autopilot": map[string]any{"mode": "Advise", "noSpace": map[string]any{"mode": "Off", "compaction": "Forbidden"}}}},
		"autopilot off":    {fields: map[string]any{"spec.autopilot.mode": "off"}, want: "Unsupported value"},
		"quota":            {fields: map[string]any{"spec.etcd.quotaBackendBytes": "8Gi"}},
		"quota is no size": {fields: map[string]any{"spec.etcd.quotaBackendBytes": "much"}, want: "should match"},
		"compaction":       {fields: map[string]any{"spec.etcd.autoCompaction": compaction("Periodic", "1h30m")}},
		"revisions":        {fields: map[string]any{"spec.etcd.autoCompaction": compaction("Revision", "1000")}},
		"not revisions":    {fields: map[string]any{"spec.etcd.autoCompaction": compaction("Revision", "1h")}, want: "whole number"},
		"log level":        {fields: map[string]any{"spec.etcd.logLevel": "debug"}, want: "Unsupported value"},
		"extra arg":        {fields: map[string]any{"spec.etcd.extraArgs": map[string]any{"cors": "*"}}},
		"extra arg dashes": {fields: map[string]any{"spec.etcd.extraArgs": map[string]any{"--cors": "*"}}, want: "without dashes"},
		"load balancer": {fields: map[string]any{"spec.services.client": map[string]any{
			"type": "LoadBalancer", "loadBalancerClass": "x", "nodePort": int64(30001), "externalTrafficPolicy": "Local",
		}}},
		"node port alone":    {fields: map[string]any{"spec.services.client.nodePort": int64(30001)}, want: "nodePort needs type"},
		"class alone":        {fields: map[string]any{"spec.services.client.loadBalancerClass": "x"}, want: "need type LoadBalancer"},
		"external name":      {fields: map[string]any{"spec.services.client.type": "ExternalName"}, want: "Unsupported value"},
		"policy":             {fields: map[string]any{"spec.networkPolicy.mode": "None"}},
		"policy Open":        {fields: map[string]any{"spec.networkPolicy.mode": "Open"}, want: "Unsupported value"},
		"clients of Strict":  {fields: policy("Strict", map[string]any{"podSelector": map[string]any{}})},
		"a range of Strict":  {fields: policy("Strict", map[string]any{"ipBlock": map[string]any{"cidr": "192.0.2.0/24"}})},
		"clients of Peers":   {fields: policy("Peers", map[string]any{"podSelector": map[string]any{}}), want: "need mode Strict"},
		"clients of no mode": {fields: policy("", map[string]any{"podSelector": map[string]any{}}), want: "need mode Strict"},
		"a client of none":   {fields: policy("Strict", map[string]any{}), want: "each entry has podSelector"},
		"a client of all": {
			fields: policy("Strict", map[string]any{"podSelector": map[string]any{}, "ipBlock": map[string]any{"cidr": "192.0.2.0/24"}}),
			want:   "each entry has podSelector",
		},
		"Service's label":    {fields: map[string]any{"spec.services.peer.labels": map[string]any{"app": "x"}}, want: "operator's own"},
		"volume's label":     {fields: map[string]any{"spec.pod.volumeLabels": map[string]any{"etcd_node": "x"}}, want: "own"},
		"template":           {fields: map[string]any{"spec.pod.template": map[string]any{"spec": map[string]any{"any": "thing"}}}},
		"template is a list": {fields: map[string]any{"spec.pod.template": []any{}}, want: "must be of type object"},
		"pod extras": {fields: map[string]any{"spec.pod": map[string]any{
			"topologySpreadConstraints": []any{map[string]any{
				"maxSkew": int64(1), "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
			}},
			"priorityClassName": "high", "serviceAccountName": "etcd",
			"imagePullSecrets": []any{map[string]any{"name": "pull"}},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "c"
			}
			check(t, c.Create(t.Context(), cluster(tc.name, tc.fields), client.DryRunAll), tc.want)
		})
	}
}

// bounds are a part of spec.autopilot.resources.
type bounds = map[string]any

// sized is a spec whose members have one core and 2Gi, bounded like that.
func sized(of bounds, kind string) map[string]any {
	return map[string]any{
		"spec.autopilot":     map[string]any{"resources": of},
		"spec.pod.resources": map[string]any{kind: map[string]any{"cpu": "1", "memory": "2Gi"}},
	}
}

// claim is a PersistentVolumeClaim's spec of 1Gi.
func claim(modes ...any) map[string]any {
	return map[string]any{"accessModes": modes, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
}

// env is a variable with one field more than its name.
func env(name, field string, value any) []any {
	return []any{map[string]any{"name": name, field: value}}
}

// policy is a NetworkPolicy with one client, who also reads metrics.
func policy(mode string, peer map[string]any) map[string]any {
	fields := map[string]any{"spec.networkPolicy.clientsFrom": []any{peer}, "spec.networkPolicy.metricsFrom": []any{peer}}
	if mode != "" {
		fields["spec.networkPolicy.mode"] = mode
	}
	return fields
}

// window is a maintenance window, in UTC if it has no zone.
func window(schedule, stays, zone string) map[string]any {
	fields := map[string]any{"spec.maintenanceWindow.schedule": schedule, "spec.maintenanceWindow.duration": stays}
	if zone != "" {
		fields["spec.maintenanceWindow.timeZone"] = zone
	}
	return fields
}

func compaction(mode, retention string) map[string]any {
	return map[string]any{"mode": mode, "retention": retention}
}
