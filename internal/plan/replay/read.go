package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// ErrNone says that there is nothing to replay.
var ErrNone = errors.New(`no line of it has the field "` + Field + `" with what an operator has observed: annotate the EtcdCluster with ` +
	`etcd.database.coreos.com/log-observed, and take the operator's log`)

// field is what the operator's loggers put before the value: JSON, and the text of development builds and of tests.
var field = regexp.MustCompile(`"` + Field + `"\s*[:=]\s*`)

// Read finds the passes in whatever holds them: the operator's log, some lines of it, or the JSON that Encode gave, laid out by
// others or not. They come in the order of the text.
func Read(text []byte) ([]Pass, error) {
	starts := field.FindAllIndex(text, -1)
	if len(starts) == 0 && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if p, err := decode(text); err == nil {
			return []Pass{p}, nil
		} else if bytes.Contains(text, []byte(`"Observed"`)) {
			return nil, err
		}
	}
	if len(starts) == 0 {
		return nil, ErrNone
	}
	var all []Pass
	for _, at := range starts {
		p, err := decode(text[at[1]:])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", bytes.Count(text[:at[0]], []byte("\n"))+1, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// decode reads the pass that the text begins with.
func decode(text []byte) (Pass, error) {
	p := Pass{}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(&p)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p, errors.New("the text ends in the middle of what was observed: take the whole line, not what a terminal shows of it")
	case err != nil:
		return p, fmt.Errorf("%w%s", err, hint(text))
	case p.Observed.Cluster.Name == "":
		return p, errors.New("it names no EtcdCluster: it is not what an operator has written")
	}
	return p, nil
}

// hint says which version knows what is not known here.
func hint(text []byte) string {
	var by struct{ Version string }
	if json.NewDecoder(bytes.NewReader(text)).Decode(&by) != nil || by.Version == "" {
		return ""
	}
	return fmt.Sprintf(": etcd-operator %s has written it; replay it with the source of that version", by.Version)
}
