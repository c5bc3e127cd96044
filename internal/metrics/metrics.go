// Package metrics holds the operator's own metrics, beside those of controller-runtime.
//
// What is about one object is removed with it, and is shown by the process that acts on it alone.
package metrics

import "time"

// Outcomes of an action.
const (
	// OutcomeDone is of one that was carried out as a whole.
	OutcomeDone = "done"
	// OutcomeRefused is of one of which the API server has refused a write, or not answered in time; the others may have taken effect.
	OutcomeRefused = "refused"
	// OutcomeStale is of one that was given up because the view was out of date, or another process may act.
	OutcomeStale = "stale"
	// OutcomeFailed is of one that any other error has ended.
	OutcomeFailed = "failed"
)

var (
	planAnswers = counter("plan_answers_total",
		"Answers of the planners, one each pass, by action and reason. Idle, Wait and Blocked are answers, too.", "action", "reason")
	actions = counter("actions_total",
		"Actions that the operator has carried out or tried to, by action, reason and outcome: done, refused (the API server refused a write), "+
			"stale (given up because the view was out of date), or failed.", "action", "reason", "outcome")
	refusedWrites = counter("writes_refused_total",
		"Writes, and dry runs of them, that the API server has refused or not answered in time, by the action that they are part of.", "action")
	autopilotActions = counter("autopilot_actions_total",
		"Actions of Auto Pilot, which are among the actions, too, by feature and outcome.", "feature", "outcome")
	actionDuration = histogram("action_duration_seconds", "How long it took to carry out an action, or to fail.", "action")
	observeSeconds = histogram("observe_duration_seconds",
		"How long it took to observe an EtcdCluster: from the cache or the API server, and its members.")
)

// Answered counts an answer of a planner, and each pass has one.
func Answered(action, reason string) { planAnswers.WithLabelValues(action, reason).Inc() }

// Acted counts an action that changes something, and how long it took.
func Acted(action, reason, outcome string, took time.Duration) {
	actions.WithLabelValues(action, reason, outcome).Inc()
	actionDuration.WithLabelValues(action).Observe(took.Seconds())
}

// AutopilotActed counts an action of a feature of Auto Pilot, with its outcome as that of any action.
func AutopilotActed(feature, outcome string) {
	autopilotActions.WithLabelValues(feature, outcome).Inc()
}

// Refused counts writes of an action that the API server has refused or not answered in time.
func Refused(action string, writes int) { refusedWrites.WithLabelValues(action).Add(float64(writes)) }

// ObserveTook records how long it took to observe an EtcdCluster.
func ObserveTook(took time.Duration) { observeSeconds.WithLabelValues().Observe(took.Seconds()) }
