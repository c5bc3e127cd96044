package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/etcdpilot/etcd-operator/test/lab/internal/addons"
)

const (
	// GrowingClass is the name of a StorageClass that lets claims ask for more later. What grows is what Kubernetes says
	// of the volumes; they are folders without a limit.
	GrowingClass = addons.GrowingClass
	// SlowClass is the name of a StorageClass whose volumes are made late: after SlowDelay, or see Faults.DelayVolumes.
	SlowClass = addons.SlowClass
	// SlowDelay is how long a volume of SlowClass takes at first.
	SlowDelay = addons.SlowSeconds * time.Second
)

// resizerComponent is the process that lets volumes of GrowingClass grow.
const resizerComponent = "resizer"

// sleepLine is the line of the provisioner's script that delays a volume.
var sleepLine = regexp.MustCompile(`(?m)^(\s*)sleep [0-9]+$`)

// DelayVolumes makes volumes of SlowClass that are asked for from now on take so long, in whole seconds, at most an
// hour.
func (f Faults) DelayVolumes(ctx context.Context, delay time.Duration) error {
	if delay < 0 || delay >= time.Hour {
		return fmt.Errorf("a volume takes less than 1h, not %v", delay)
	}
	const configMap = "configmap/" + addons.SlowClass + "-config"
	script, err := f.lab.kubectl(ctx, nil, "get", configMap, "--namespace="+addons.StorageNamespace,
		"--output=jsonpath={.data.setup}")
	if err != nil {
		return err
	}
	if !sleepLine.Match(script) {
		return errors.New("the script that makes slow volumes is not as the lab made it")
	}
	slower := sleepLine.ReplaceAllString(string(script), fmt.Sprintf("${1}sleep %.0f", math.Ceil(delay.Seconds())))
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"setup": slower}})
	if err != nil {
		return fmt.Errorf("encode the script that makes slow volumes: %w", err)
	}
	_, err = f.lab.kubectl(ctx, nil, "patch", configMap, "--namespace="+addons.StorageNamespace, "--type=merge",
		"--patch="+string(patch))
	return err
}
