package v1beta2

// # Auto Pilot
//
// In status.autopilot.held of an EtcdCluster, and in events.
const (
	// ReasonAutopilotAdvises means that the message says what the operator would do, and that it does not because the mode of that feature
	// in spec.autopilot, or that of the operator, is Advise.
	//
	// Do it by hand, or set the mode to On.
	ReasonAutopilotAdvises = "AutopilotAdvises"
	// ReasonWaitingForWindow means that something is due that can wait for the maintenance window, and that this is not open, or that there is
	// none.
	//
	// Nothing, or set spec.maintenanceWindow if there is none: it is done once that opens. Do it by hand if it cannot wait.
	ReasonWaitingForWindow = "WaitingForWindow"
	// ReasonWaitingForBrake means that something is due that would disturb clients, and that as many clusters are being disturbed as the
	// operator allows at a time.
	//
	// Nothing: its turn comes, in the order of asking. If it takes hours, look for clusters in which something of Auto Pilot does not end.
	ReasonWaitingForBrake = "WaitingForBrake"
	// ReasonNoLongerHeld means that what was held back is no longer: it is being done, or not due any more.
	//
	// Nothing.
	ReasonNoLongerHeld = "NoLongerHeld"
)
