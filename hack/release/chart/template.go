package chart

import "strings"

// object is one that the chart creates: as by default, or in another way, or only if a condition holds.
type object struct {
	document
	// text by default; empty if there is none.
	text     string
	variants []alternative
}

type alternative struct{ condition, text string }

// defines names what the templates of config/chart include, as values change it.
var defines = map[string]string{
	"Deployment/etcd-operator-controller-manager":          "etcd-operator.deployment",
	"ClusterRole/etcd-operator-manager-role":               "etcd-operator.role",
	"ClusterRoleBinding/etcd-operator-manager-rolebinding": "etcd-operator.binding",
}

// template gives the file of the chart that has an object, and what is in it.
func (o *object) template() (file, text string) {
	body := o.body()
	if name, found := defines[o.kind+"/"+o.name]; found {
		return "_manifests.tpl", "{{- define \"" + name + "\" }}\n" + body + "{{- end }}\n"
	}
	switch {
	case o.kind == crd:
		return "crds/" + strings.TrimSuffix(o.name, ".etcd.database.coreos.com") + ".yaml",
			"{{- if .Values.crds.enabled }}\n" + body + "{{- end }}\n"
	case o.text == "":
		return "more.yaml", body
	case strings.HasPrefix(o.kind, "ValidatingAdmission"):
		return "admission.yaml", "---\n" + body
	default:
		return "manifests.yaml", "---\n" + body
	}
}

// body chooses between the ways.
func (o *object) body() string {
	if len(o.variants) == 0 {
		return o.text
	}
	var text strings.Builder
	separator := "---\n"
	if o.text != "" {
		separator = ""
	}
	for i, v := range o.variants {
		text.WriteString("{{- ")
		if i > 0 {
			text.WriteString("else ")
		}
		text.WriteString("if " + v.condition + " }}\n" + separator + v.text)
	}
	if o.text != "" {
		text.WriteString("{{- else }}\n" + o.text)
	}
	text.WriteString("{{- end }}\n")
	return text.String()
}
