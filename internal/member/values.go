package member

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func text(s string) (any, error) { return s, nil }

func oneOf(choices ...string) func(string) (any, error) {
	return func(s string) (any, error) {
		if !slices.Contains(choices, s) {
			return nil, fmt.Errorf("%q is not one of %s", s, strings.Join(choices, ", "))
		}
		return s, nil
	}
}

// number may be negative.
func number(s string) (any, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

func count(s string) (any, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%q is not a whole number from 0 to 4294967295", s)
	}
	return n, nil
}

func truth(s string) (any, error) {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not true or false", s)
	}
	return b, nil
}

// duration returns nanoseconds, the only form in etcd's configuration file.
func duration(s string) (any, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("%q is not a duration such as 10s", s)
	}
	return d.Nanoseconds(), nil
}

// retention is a whole number (of hours or of revisions) or a duration.
func retention(s string) (any, error) {
	_, notCount := count(s)
	if _, notDuration := duration(s); notCount != nil && notDuration != nil {
		return nil, fmt.Errorf("%q is neither a whole number nor a duration such as 30m", s)
	}
	return s, nil
}

// origins refuses what makes etcd panic.
func origins(s string) (any, error) {
	for origin := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(origin)
		if origin == "*" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Port() != "" && u.Path == "" {
			continue
		}
		return nil, fmt.Errorf("%q is not an origin: etcd takes * or a URL with a port, such as https://example.com:443",
			origin)
	}
	return s, nil
}
