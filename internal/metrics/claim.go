package metrics

// OperatedByAnother is how many objects another operator reconciles, so that this one does not, by kind and namespace.
var OperatedByAnother = gauge("operated_by_another",
	"Objects that this operator does not reconcile because another one does, by kind and namespace.", "kind", "namespace")
