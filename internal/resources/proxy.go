package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ProxyEnv are, of the operator's own proxy variables, those to hand to pods that reach object storage. A proxy with a password
// is withheld: whoever may read pods in a user's namespace would read it there.
func ProxyEnv(own []corev1.EnvVar) (handed []corev1.EnvVar, withheld []string) {
	for _, e := range own {
		if strings.Contains(e.Value, "@") {
			withheld = append(withheld, e.Name)
			continue
		}
		handed = append(handed, e)
	}
	return handed, withheld
}
