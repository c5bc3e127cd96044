package etcdcluster

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdpilot/etcd-operator/controllers/internal/controllertest"
)

// refuser is a real API server that refuses pods and claims for one reason each: by their namespace, or by their label "refused".
type refuser struct {
	client.Client
	config *rest.Config
}

func (a *refuser) namespace(t *testing.T, name string, labels map[string]string) *corev1.Namespace {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	must(t, a.Create(t.Context(), namespace))
	return namespace
}

// quota makes the namespaces with a limit. Nobody counts what a quota's namespace uses here, so the test says it.
func (a *refuser) quota(t *testing.T) {
	t.Helper()
	a.namespace(t, "restricted", map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	a.namespace(t, "quota", nil)
	one := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1"), corev1.ResourceLimitsCPU: resource.MustParse("1")}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "quota", Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: one},
	}
	must(t, a.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: one, Used: one}
	must(t, a.Status().Update(t.Context(), quota))
	a.namespace(t, "limits", nil)
	must(t, a.Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: "limits", Name: "l"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		}}},
	}))
}

// policies deny the pods with the label "policy", with the reason that a policy has by default.
func (a *refuser) policies(t *testing.T) {
	t.Helper()
	controllertest.DenyPods(t, a.Client, "no-pods", "!has(object.metadata.labels) || !('refused' in object.metadata.labels) || object.metadata.labels['refused'] != 'policy'")
	controllertest.Await(t, "the policy", func() error {
		if err := a.Create(t.Context(), cpuPod("default", "policy", "1")); err == nil {
			return errors.New("it is not in force")
		}
		return nil
	})
}

func podWrites() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}
}

// webhooks answer for pods with their labels: one with no code, one with its own, one not at all, and so on.
func (a *refuser) webhooks(t *testing.T) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(answerReview))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	fail, none := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "w"}}
	for label, seconds := range map[string]int32{"webhook": 10, "conflict": 10, "broken": 10, "gone": 10, "slow": 1, "hangs": 30} {
		address := server.URL + "/" + label
		if label == "gone" {
			address = "https://127.0.0.1:1/"
		}
		config.Webhooks = append(config.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: label + ".example.com", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: ca},
			Rules: []admissionregistrationv1.RuleWithOperations{podWrites()}, FailurePolicy: &fail, SideEffects: &none,
			TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"refused": label}},
		})
	}
	must(t, a.Create(t.Context(), config))
	controllertest.Await(t, "the webhooks", func() error {
		if err := a.Create(t.Context(), cpuPod("default", "webhook", "1")); err == nil {
			return errors.New("they are not in force")
		}
		return nil
	})
}

func answerReview(w http.ResponseWriter, r *http.Request) {
	review := admissionv1.AdmissionReview{}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID}
	switch r.URL.Path {
	case "/slow", "/hangs":
		<-r.Context().Done()
		return
	case "/broken":
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	case "/conflict":
		review.Response.Result = &metav1.Status{Code: http.StatusConflict, Message: "somebody else's"}
	}
	_ = json.NewEncoder(w).Encode(review)
}
