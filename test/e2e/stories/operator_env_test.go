package stories

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/etcdpilot/etcd-operator/test/e2e/harness"
)

// setEnv changes variables of the operator's Deployment, as kubectl's command of that name does.
func setEnv(ctx context.Context, changes ...string) error {
	args := []string{"set", "env", "-n", harness.OperatorNamespace, "deployment/" + operatorDeployment}
	return env.Run(ctx, append(args, changes...)...)
}

// tellOperator sets variables of the operator, as NAME=VALUE, and waits for the process that was told.
func tellOperator(t *testing.T, variables ...string) {
	t.Helper()
	must(t, setEnv(t.Context(), variables...))
	must(t, env.Run(t.Context(), "rollout", "status", "--timeout=3m", "-n", harness.OperatorNamespace, "deployment/"+operatorDeployment))
}

// untellOperator has the operator run as it was deployed, without these variables. It is for the end of a test.
func untellOperator(t *testing.T, variables ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	var changes []string
	for _, variable := range variables {
		changes = append(changes, variable+"-")
	}
	if err := errors.Join(setEnv(ctx, changes...), env.Deploy(ctx)); err != nil {
		t.Error(err)
	}
}

// quickened has the operator be so many times as quick with what takes a day, until the end of the test. No other story runs meanwhile.
func quickened(t *testing.T, pace int) {
	t.Helper()
	const variable = "AUTOPILOT_PACE"
	t.Cleanup(func() { untellOperator(t, variable) })
	tellOperator(t, variable+"="+strconv.Itoa(pace))
}
