package alerts

import (
	"os"
	"strings"
	"testing"
)

// TestAlertsHaveStories wants every alert to fire and clear on the lab, where the stories need a cluster to be told.
func TestAlertsHaveStories(t *testing.T) {
	text, err := os.ReadFile("../e2e/stories/alerts_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups(1) {
		for _, rule := range group.Rules {
			if !strings.Contains(string(text), `{alert: "`+rule.Alert+`",`) {
				t.Errorf("no story of TestAlerts has %s fire", rule.Alert)
			}
		}
	}
}
