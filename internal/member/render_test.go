package member

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
)

var update = flag.Bool("update", false, "write the golden files")

func testConfig() Config {
	return Config{
		Name: "db-0", DataDir: DataDir,
		PeerURL:   "http://db-0.db.prod.svc:2380",
		ClientURL: "http://db-0.db.prod.svc:2379",
	}
}

func TestRender(t *testing.T) {
	plain, tuned := testConfig(), testConfig()
	tuned.Options = map[string]string{
		"quota-backend-bytes":            "8589934592",
		"auto-compaction-mode":           "revision",
		"auto-compaction-retention":      "1000",
		"heartbeat-interval":             "200",
		"election-timeout":               "2000",
		"pre-vote":                       "false",
		"compaction-sleep-interval":      "25ms",
		"snapshot-catchup-entries":       "7000",
		"watch-progress-notify-interval": "1h30m",
		"initial-corrupt-check":          "true",
		"compact-hash-check-enabled":     "1",
		"stop-grpc-service-on-defrag":    "F",
		"log-level":                      "debug",
	}
	first := Start{
		State: StateNew, Token: "uid-1", ListenHost: "0.0.0.0",
		InitialCluster: "db-0=http://db-0.db.prod.svc:2380,db-1=http://db-1.db.prod.svc:2380",
	}
	resumed := Start{State: StateExisting, ListenHost: "[::]"}
	secured, peers := testConfig(), testConfig()
	secured.Transport, peers.Transport = Transport{PeerTLS: true, ClientTLS: true}, Transport{PeerTLS: true}
	host := Host(plain.Name, "db", "prod", "")
	secured.PeerURL, secured.ClientURL = PeerURL(host, secured.Transport), ClientURL(host, secured.Transport)
	peers.PeerURL = PeerURL(host, peers.Transport)
	for name, c := range map[string]struct {
		config Config
		start  Start
	}{
		"new": {plain, first}, "resume": {plain, resumed}, "tuned": {tuned, resumed},
		"tls": {secured, resumed}, "tls-peers": {peers, resumed},
	} {
		for _, version := range []string{"3.5.35", "3.6.16", "3.7.3"} {
			t.Run(name+"-"+version, func(t *testing.T) {
				got, err := Render(c.config, c.start, version)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+"-"+version[:3]+".yaml", got)
			})
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

// TestAllowedHostnames gives a list of names only to an etcd that takes one: 3.5.14 does not start with it.
func TestAllowedHostnames(t *testing.T) {
	config := testConfig()
	config.Transport, config.PeerURL = Transport{PeerTLS: true}, "https://db-0.db.prod.svc.cluster.local:2380"
	for version, want := range map[string]bool{"3.5.14": false, "3.5.15": true, "3.6.0": true, "3.7.3": true} {
		file, err := Render(config, Start{State: StateExisting}, version)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(file), "allowed-hostname") != want {
			t.Errorf("%s is given allowed-hostname: %t, want %t", version, !want, want)
		}
	}
	got := read(t, config, Start{State: StateExisting, ListenHost: "0.0.0.0"}).PeerTLSInfo.AllowedHostnames
	if want := []string{"db-0.db.prod.svc.cluster.local", "db.prod.svc.cluster.local"}; !slices.Equal(got, want) {
		t.Errorf("etcd reads %v, want %v", got, want)
	}
}

func TestRenderRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		options map[string]string
		want    string
	}{
		"no version":     {version: "unknown", want: "etcd's version"},
		"too old":        {version: "3.4.45", want: "must be 3.5, 3.6 or 3.7"},
		"not yet there":  {version: "3.8.0", want: "must be 3.5, 3.6 or 3.7"},
		"another major":  {version: "4.6.0", want: "must be 3.5, 3.6 or 3.7"},
		"unknown option": {version: "3.6.16", options: map[string]string{"data-dir": "/x"}, want: `"data-dir"`},
		"bad value":      {version: "3.6.16", options: map[string]string{"max-wals": "x"}, want: "max-wals"},
	} {
		config := testConfig()
		config.Options = c.options
		_, err := Render(config, Start{State: StateExisting}, c.version)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// TestEtcdKnowsTheOptions holds the table to etcd's own configuration: etcd says nothing of a key that it ignores.
func TestEtcdKnowsTheOptions(t *testing.T) {
	known := map[string]bool{"cors": true, "host-whitelist": true} // in a type that is not exported
	for _, field := range reflect.VisibleFields(reflect.TypeFor[embed.Config]()) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[key] = true
	}
	gates, ok := embed.NewConfig().ServerFeatureGate.(interface{ Set(value string) error })
	if !ok {
		t.Fatal("etcd's feature gates cannot be set")
	}
	for name, o := range options {
		switch {
		case o.gate != "":
			if err := gates.Set(o.gate + "=true"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case !known[name]:
			t.Errorf("%s: etcd has no such key", name)
		}
	}
}

// TestOlderEtcdKnowsTheOptions holds the table to the keys in the configuration of etcd 3.5.35 and 3.6.16. Their own types
// cannot be linked beside those of 3.7.
func TestOlderEtcdKnowsTheOptions(t *testing.T) {
	for minor, file := range map[uint64]string{5: "keys-3.5.txt", 6: "keys-3.6.txt"} {
		keys, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		known := strings.Fields(string(keys))
		for name, o := range options {
			if minor == 5 && o.old != "" {
				name = o.old
			} else if o.gate != "" {
				name = "feature-gates"
			}
			if minor >= o.since && !slices.Contains(known, name) {
				t.Errorf("%s: etcd 3.%d has no such key", name, minor)
			}
		}
	}
}

// read is what etcd's own parser makes of the file that is rendered.
func read(t *testing.T, c Config, s Start) *embed.Config {
	t.Helper()
	file, err := Render(c, s, "3.7.3")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "etcd.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := embed.ConfigFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestEtcdReadsTheFile lets etcd's own parser read what was rendered.
func TestEtcdReadsTheFile(t *testing.T) {
	config := testConfig()
	config.Options = map[string]string{
		"quota-backend-bytes": "8589934592", "initial-corrupt-check": "true", "compaction-sleep-interval": "25ms",
		"cors": "https://a.example:443", "auto-compaction-retention": "30m", "snapshot-catchup-entries": "7000",
	}
	got := read(t, config, Start{State: StateExisting, ListenHost: "[::]"})
	for what, equal := range map[string]bool{
		"name":            got.Name == "db-0" && got.Dir == DataDir,
		"peer":            got.ListenPeerUrls[0].String() == "http://[::]:2380",
		"client":          got.ListenClientUrls[0].String() == "http://[::]:2379",
		"metrics":         got.ListenMetricsUrls[0].String() == "http://[::]:2381",
		"advertised":      got.AdvertisePeerUrls[0].String() == config.PeerURL,
		"initial cluster": got.InitialCluster == "db-0="+config.PeerURL && got.ClusterState == StateExisting,
		"quota":           got.QuotaBackendBytes == 8589934592,
		"gate":            strings.Contains(got.ServerFeatureGate.String(), "InitialCorruptCheck=true"),
		"default of ours": strings.Contains(got.ServerFeatureGate.String(), "StopGRPCServiceOnDefrag=true"),
		"sleep interval":  got.CompactionSleepInterval.Milliseconds() == 25,
		"catch-up":        got.SnapshotCatchUpEntries == 7000,
		"cors":            len(got.CORS) == 1,
		"compaction":      got.AutoCompactionMode == "periodic" && got.AutoCompactionRetention == "30m",
		"max learners":    got.MaxLearners == MaxLearners,
	} {
		if !equal {
			t.Errorf("%s: etcd reads %+v", what, got)
		}
	}
}
