// Command scorecard-etcd holds the operator's own tests for `operator-sdk scorecard`: one for each capability level that it
// claims, each against the operator that runs in the Kubernetes cluster. Scorecard runs it in a pod, with the bundle in
// /bundle, and reads a result in JSON from what the pod prints. The pod's service account needs the role in
// config/scorecard/rbac, in the namespace that it runs in, which should be one of its own, and the operator has to watch that
// namespace.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// tests are all there are, by the name that is the argument.
var tests = map[string]func(context.Context, *trial) error{
	"level-1-basic-install":     basicInstall,
	"level-2-seamless-upgrades": seamlessUpgrades,
	"level-3-full-lifecycle":    fullLifecycle,
}

func main() {
	// Scorecard reads the pod's log as one JSON document: nothing else may be in it, on standard error either.
	log.SetLogger(logr.Discard())
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// It deletes the pod when its time is up; what the test has made goes before the pod does.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	text, err := json.MarshalIndent(v1alpha3.TestStatus{Results: []v1alpha3.TestResult{run(ctx, os.Args[1:])}}, "", "  ")
	if err != nil {
		text = fmt.Appendf(nil, `{"results": [{"state": "error", "errors": [%q]}]}`, err)
	}
	fmt.Println(string(text))
}

// run runs the test of that name.
func run(ctx context.Context, args []string) v1alpha3.TestResult {
	names := slices.Sorted(maps.Keys(tests))
	if len(args) != 1 || tests[args[0]] == nil {
		return v1alpha3.TestResult{
			State: v1alpha3.ErrorState, Errors: []string{fmt.Sprintf("there is no test %q", args)},
			Suggestions: []string{fmt.Sprintf("give one of %v as the only argument", names)},
		}
	}
	result := v1alpha3.TestResult{Name: args[0], State: v1alpha3.PassState}
	t, err := begin(args[0])
	if err != nil {
		result.State, result.Errors = v1alpha3.ErrorState, []string{err.Error()}
		return result
	}
	err = t.run(ctx, tests[args[0]])
	if err != nil {
		result.State, result.Errors, result.Suggestions = v1alpha3.FailState, []string{err.Error()}, suggestions(err)
	}
	result.Log = t.log.String()
	return result
}
