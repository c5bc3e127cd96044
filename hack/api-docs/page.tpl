{{- define "gvList" -}}
# API reference

{{- range . }}

{{ .Doc }}
{{- $gv := . }}
{{- $first := list -}}
{{- range list "EtcdCluster" "EtcdBackup" "EtcdRestore" "EtcdUser" "EtcdRole" -}}
{{- $first = concat $first (list . (print . "Spec") (print . "Status")) -}}
{{- end }}

| kind | |
| --- | --- |
{{ range list "EtcdCluster" "EtcdBackup" "EtcdRestore" "EtcdUser" "EtcdRole" -}}
| {{ $gv.TypeForKind . | markdownRenderTypeLink }} | {{ template "text" ($gv.TypeForKind .).Doc }} |
{{ end -}}
{{- range $first }}{{ template "type" (index $gv.Types .) }}{{ end -}}
{{ range $gv.SortedTypes }}{{ if not (has .Name $first) }}{{ template "type" . }}{{ end }}{{ end -}}
{{- end }}
{{- end -}}
