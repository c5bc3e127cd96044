{{- define "type" -}}
{{- $type := .type -}}
{{- /* A type whose fields others have as their own is not on the page. */ -}}
{{- $users := list -}}
{{- $names := .names -}}
{{- range $type.SortedReferences }}{{ if has .Name $names }}{{ $users = append $users (markdownRenderTypeLink .) }}{{ end }}{{ end -}}
{{- if markdownShouldRenderType $type }}

{{ if $type.GVK }}##{{ else }}###{{ end }} {{ $type.Name }}

{{ $type.Doc }}
{{ range index $type.Markers "kubebuilder:validation:XValidation" }}
- {{ template "text" .Message }}
{{- end }}
{{- if $users }}

Used by {{ join ", " $users }}.
{{- end }}
{{- if $type.Members }}

| field | description | default | validation |
| --- | --- | --- | --- |
{{- if $type.GVK }}
| `apiVersion` _string_ | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` | | required |
| `kind` _string_ | `{{ $type.GVK.Kind }}` | | required |
{{- end }}
{{- range $type.Members }}
| `{{ .Name }}` _{{ markdownRenderType .Type }}_ | {{ template "description" . }} | {{ template "default" . }} | {{ template "validation" . }} |
{{- end }}
{{- end }}
{{- if $type.EnumValues }}

| value | |
| --- | --- |
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ template "text" .Doc }} |
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* A comment's lines are no lines of a table. */ -}}
{{- define "text" -}}
{{- markdownRenderFieldDoc (replace "\n" " " . | replace "<" "&lt;") -}}
{{- end -}}

{{- define "description" -}}
{{- if eq .Name "metadata" -}}as of any object{{- else -}}{{- template "text" .Doc -}}{{- end -}}
{{- end -}}

{{- /* The API server fills few defaults in. The comments have the others, as "; 2379 by default". */ -}}
{{- define "default" -}}
{{- if .Default -}}
`{{ .Default }}`
{{- else -}}
{{- with regexFind "[;:] \\S+\\s+by\\s+default" .Doc }}`{{ regexFind "[^;:\\s]\\S*" . }}`{{ end -}}
{{- end -}}
{{- end -}}

{{- /* What is optional goes without saying. */ -}}
{{- define "validation" -}}
{{- $all := list -}}
{{- range .Validation -}}
{{- if hasPrefix "Required" . -}}
{{- $all = append $all "required" -}}
{{- else if or (hasPrefix "Maximum: " .) (hasPrefix "Minimum: " .) -}}
{{- $all = append $all (print (splitList " " . | first) " " (splitList " " . | last | float64 | int64)) -}}
{{- else if not (or (hasPrefix "Optional" .) (hasPrefix "Type: " .) (hasPrefix "items:XValidation" .) (hasPrefix "Schemaless" .) (hasPrefix "XIntOrString" .)) -}}
{{- $all = append $all (markdownRenderFieldDoc .) -}}
{{- end -}}
{{- end -}}
{{- /* The rules of a type stand there, and are handed down to its fields. */ -}}
{{- if not (index .Type.Markers "kubebuilder:validation:XValidation") -}}
{{- range index .Markers "kubebuilder:validation:XValidation" -}}
{{- $all = append $all (markdownRenderFieldDoc .Message) -}}
{{- end -}}
{{- end -}}
{{- range index .Markers "kubebuilder:validation:items:XValidation" -}}
{{- $all = append $all (markdownRenderFieldDoc .Message) -}}
{{- end -}}
{{- join "<br />" $all -}}
{{- end -}}
