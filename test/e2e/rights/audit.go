package rights

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// event is what is read of one in an audit log (audit.k8s.io/v1).
type event struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	Object *struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	Status struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received    time.Time         `json:"requestReceivedTimestamp"`
	Annotations map[string]string `json:"annotations"`
}

// Requests reads audit logs, oldest first, and gives each request of a user from some time on: the rights that it took, and whether
// they were there. That admission control or validation has refused it then does not matter.
func Requests(files []string, user string, since time.Time, give func(at time.Time, took []Grant, allowed bool)) error {
	for _, file := range files {
		if err := requestsIn(file, user, since, give); err != nil {
			return fmt.Errorf("read audit log %s: %w", file, err)
		}
	}
	return nil
}

func requestsIn(file, user string, since time.Time, give func(time.Time, []Grant, bool)) error {
	opened, err := os.Open(file) // #nosec G304 -- the lab's own log
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	lines := bufio.NewReader(opened)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what has no end yet is being written, or the server was killed meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		e := event{}
		if json.Unmarshal(line, &e) != nil { // the rest of what a killed server has written, with the first line of the next one
			continue
		}
		if e.Object == nil || e.User.Username != user || e.Received.Before(since) {
			continue
		}
		if decision := e.Annotations["authorization.k8s.io/decision"]; decision != "" {
			give(e.Received, e.took(), decision == "allow")
		}
	}
}

// took are the rights that the request needed.
func (e *event) took() []Grant {
	g := Grant{Namespace: e.Object.Namespace, Verb: e.Verb, Group: e.Object.Group, Resource: e.Object.Resource, Name: e.Object.Name}
	if e.Object.Subresource != "" {
		g.Resource = strings.Join([]string{e.Object.Resource, e.Object.Subresource}, "/")
	}
	if e.Verb != "patch" || e.Status.Code != http.StatusCreated {
		return []Grant{g}
	}
	created := g // a server-side apply of what was not there takes the right to create it, too
	created.Verb = "create"
	return []Grant{g, created}
}
