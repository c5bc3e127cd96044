{{- define "gvList" -}}
# API reference

{{- range . }}

{{ .Doc }}
{{- $gv := . }}
{{- $kinds := list "EtcdCluster" "EtcdBackup" "EtcdRestore" "EtcdUser" "EtcdRole" }}

| kind | |
| --- | --- |
{{ range $kinds -}}
| {{ $gv.TypeForKind . | markdownRenderTypeLink }} | {{ template "text" ($gv.TypeForKind .).Doc }} |
{{ end }}
Each kind is followed by its spec and its status, and each of these by the types of its fields, in their order. A type that several
of them need is described where it is first needed.
{{- $order := dict "names" list }}
{{- range $kinds }}{{ template "collect" (dict "types" $gv.Types "type" ($gv.TypeForKind .) "order" $order) }}{{ end }}
{{- range $order.names }}{{ template "type" (dict "type" (index $gv.Types .) "names" $order.names) }}{{ end }}
{{- end }}
{{ end -}}

{{- /* Appends a type to .order.names, and after it all that its fields need, unless they are there. */ -}}
{{- define "collect" -}}
{{- $types := .types -}}
{{- $order := .order -}}
{{- $type := .type -}}
{{- with $type.UnderlyingType }}{{ template "collect" (dict "types" $types "type" . "order" $order) }}{{ end -}}
{{- with $type.ValueType }}{{ template "collect" (dict "types" $types "type" . "order" $order) }}{{ end -}}
{{- $known := index $types $type.Name -}}
{{- if and $known (eq $known.Package $type.Package) (not (has $type.Name $order.names)) -}}
{{- $_ := set $order "names" (append $order.names $type.Name) -}}
{{- range $known.Members }}{{ template "collect" (dict "types" $types "type" .Type "order" $order) }}{{ end -}}
{{- end -}}
{{- end -}}
