package resizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Resizer answers claims that ask for more than they have.
type Resizer struct {
	// Client speaks to the API as an administrator, without a timeout.
	Client *http.Client
	// Server is the address of the API.
	Server string
	// Class is the name of the StorageClass whose volumes grow.
	Class string
	// Log gets a line for each volume that grew, and for each failure.
	Log io.Writer
}

// Run works until the context ends. An API that is away is waited for.
func (r Resizer) Run(ctx context.Context) error {
	const pause = time.Second
	for {
		// A watch ends by itself after some minutes; the next one begins with all that is there.
		if err := r.watch(ctx); err != nil && ctx.Err() == nil {
			_, _ = fmt.Fprintln(r.Log, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// claim is what matters of a PersistentVolumeClaim.
type claim struct {
	Metadata struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName string `json:"storageClassName"`
		VolumeName       string `json:"volumeName"`
		Resources        struct {
			Requests map[string]string `json:"requests"`
		} `json:"resources"`
	} `json:"spec"`
	Status struct {
		Phase    string            `json:"phase"`
		Capacity map[string]string `json:"capacity"`
	} `json:"status"`
}

// wants returns the size that a claim has not got yet. The API writes equal sizes equally, and lets no claim ask for
// less than it has, so a different size is a larger one.
func (c claim) wants(class string) (size string, grows bool) {
	size = c.Spec.Resources.Requests["storage"]
	return size, c.Spec.StorageClassName == class && c.Status.Phase == "Bound" && size != c.Status.Capacity["storage"]
}

// watch handles claims until the stream ends.
func (r Resizer) watch(ctx context.Context) error {
	body, err := r.do(ctx, http.MethodGet, "/api/v1/persistentvolumeclaims?watch=true", nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	events := json.NewDecoder(body)
	for {
		var event struct {
			Type   string `json:"type"`
			Object claim  `json:"object"`
		}
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("watch claims: %w", err)
		}
		size, grows := event.Object.wants(r.Class)
		if !grows || (event.Type != "ADDED" && event.Type != "MODIFIED") {
			continue
		}
		if err := r.grow(ctx, event.Object, size); err != nil {
			return err
		}
	}
}

// grow does what a driver's controller does: the volume is larger first, then the claim says so.
func (r Resizer) grow(ctx context.Context, claim claim, size string) error {
	name := claim.Metadata.Namespace + "/" + claim.Metadata.Name
	patch := map[string]any{"spec": map[string]any{"capacity": map[string]string{"storage": size}}}
	if err := r.patch(ctx, "/api/v1/persistentvolumes/"+claim.Spec.VolumeName, patch); err != nil {
		return fmt.Errorf("grow the volume of claim %s: %w", name, err)
	}
	path := "/api/v1/namespaces/" + claim.Metadata.Namespace + "/persistentvolumeclaims/" + claim.Metadata.Name + "/status"
	patch = map[string]any{"status": map[string]any{"capacity": map[string]string{"storage": size}}}
	if err := r.patch(ctx, path, patch); err != nil {
		return fmt.Errorf("grow claim %s: %w", name, err)
	}
	_, _ = fmt.Fprintf(r.Log, "claim %s grew from %s to %s\n", name, claim.Status.Capacity["storage"], size)
	return nil
}

func (r Resizer) patch(ctx context.Context, path string, patch any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode a patch: %w", err)
	}
	body, err := r.do(ctx, http.MethodPatch, path, data)
	if err != nil {
		return err
	}
	return body.Close()
}

// do sends a request, and returns the body of the answer, which the caller closes.
func (r Resizer) do(ctx context.Context, method, path string, data []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.Server+path, bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if data != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := r.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return nil, errors.Join(fmt.Errorf("%s %s: the API answers %s: %s",
		method, path, response.Status, strings.TrimSpace(string(text))), err)
}
