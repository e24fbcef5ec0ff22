package settings

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is one word of the tag check.
type rule struct {
	// name and argument are as in the tag; limit is the argument of min and max.
	name, argument string
	limit          int64
	// format describes valid values. It replaces the format of the type, or is added to it.
	format   string
	replaces bool
	check    func(v reflect.Value, text string) error
}

// parseRules reads the tag:
//
//	listen        host:port to listen at; the host may be empty
//	hostports     host:port, several separated by commas
//	url=a|b       a URL of one of the schemes
//	web           an http or https URL that something can be added to: no query, no fragment
//	networks      IP addresses and prefixes, separated by commas
//	base64=n      base64 of n bytes or more, several separated by commas
//	zone          the name of a time zone
//	oneof=a|b     one of the words
//	min=x, max=x  for numbers and durations
func parseRules(tag string) ([]rule, error) {
	var rules []rule
	for word := range strings.SplitSeq(tag, ",") {
		name, argument, _ := strings.Cut(word, "=")
		if word == "" {
			continue
		}
		r, err := newRule(name, argument)
		if err != nil {
			return nil, err
		}
		r.name, r.argument = name, argument
		rules = append(rules, r)
	}
	return rules, nil
}

func newRule(name, argument string) (rule, error) {
	switch name {
	case "listen":
		return rule{format: "host:port", replaces: true, check: ofText(listen)}, nil
	case "hostports":
		return rule{format: "host:port, several separated by commas", replaces: true, check: ofText(hostPorts)}, nil
	case "url":
		schemes := strings.Split(argument, "|")
		return rule{format: "URL " + strings.Join(schemes, "://… or ") + "://…", replaces: true, check: ofText(ofScheme(schemes))}, nil
	case "web":
		return rule{format: "http or https URL", replaces: true, check: ofText(web)}, nil
	case "networks":
		return rule{format: "IP addresses and prefixes, separated by commas", replaces: true, check: ofText(networks)}, nil
	case "base64":
		n, err := strconv.Atoi(argument)
		return rule{
			format: "base64 of " + argument + " bytes or more, several separated by commas", replaces: true, check: ofText(encoded(n)),
		}, err
	case "zone":
		return rule{format: "time zone", replaces: true, check: ofText(zone)}, nil
	case "oneof":
		words := strings.Split(argument, "|")
		return rule{format: strings.Join(words, " or "), replaces: true, check: ofText(oneOf(words))}, nil
	case "min":
		return bound(argument, "at least "+argument, func(v, limit int64) bool { return v >= limit })
	case "max":
		return bound(argument, "at most "+argument, func(v, limit int64) bool { return v <= limit })
	default:
		return rule{}, fmt.Errorf("%w: unknown rule %q", errTags, name)
	}
}

func ofText(check func(text string) error) func(reflect.Value, string) error {
	return func(_ reflect.Value, text string) error { return check(text) }
}

var (
	errListen    = errors.New("is not host:port with a port of 0 to 65535")
	errHostPorts = errors.New("is not host:port with a port of 1 to 65535, several separated by commas")
	errScheme    = errors.New("is not a URL that begins with")
	errWeb       = errors.New("is not an http or https URL without query and fragment")
	errNetworks  = errors.New("is not a list of IP addresses and prefixes such as 10.0.0.0/8")
	errBase64    = errors.New("is not base64")
	errShort     = errors.New("is base64 of too few bytes")
	errZone      = errors.New("is not a time zone such as Europe/Stockholm")
	errWord      = errors.New("is none of")
	errBound     = errors.New("must be")
)

const notInHosts = "/@, "

func isPort(text string, lowest uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= lowest
}

func listen(text string) error {
	if host, p, err := net.SplitHostPort(text); err != nil || strings.ContainsAny(host, notInHosts) || !isPort(p, 0) {
		return errListen
	}
	return nil
}

func hostPorts(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		host, p, err := net.SplitHostPort(strings.TrimSpace(part))
		if err != nil || host == "" || strings.ContainsAny(host, notInHosts) || !isPort(p, 1) {
			return errHostPorts
		}
	}
	return nil
}

// ofScheme checks only the scheme: a database URL may have several hosts, which url.Parse refuses.
func ofScheme(schemes []string) func(text string) error {
	return func(text string) error {
		scheme, rest, ok := strings.Cut(text, "://")
		if !ok || rest == "" || !slices.Contains(schemes, scheme) {
			return fmt.Errorf("%w %s://", errScheme, strings.Join(schemes, ":// or "))
		}
		return nil
	}
}

func web(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errWeb
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errWeb
	}
	return nil
}

func networks(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		_, notAddr := netip.ParseAddr(part)
		if _, notPrefix := netip.ParsePrefix(part); notAddr != nil && notPrefix != nil {
			return errNetworks
		}
	}
	return nil
}

func encoded(least int) func(text string) error {
	return func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(part))
			if err != nil {
				return errBase64
			}
			if len(raw) < least {
				return fmt.Errorf("%w: %d, not %d", errShort, len(raw), least)
			}
		}
		return nil
	}
}

func zone(text string) error {
	if _, err := time.LoadLocation(text); err != nil {
		return errZone
	}
	return nil
}

func oneOf(words []string) func(text string) error {
	return func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%w %s", errWord, strings.Join(words, ", "))
		}
		return nil
	}
}

// bound reads its limit as the field's own kind: a whole number or a duration.
func bound(argument, format string, within func(v, limit int64) bool) (rule, error) {
	limit, notNumber := strconv.ParseInt(argument, 10, 64)
	if notNumber != nil {
		d, err := time.ParseDuration(argument)
		if err != nil {
			return rule{}, fmt.Errorf("%w: no bound: %q", errTags, argument)
		}
		limit = int64(d)
	}
	return rule{format: format, limit: limit, check: func(v reflect.Value, _ string) error {
		if !v.CanInt() || !within(v.Int(), limit) {
			return fmt.Errorf("%w %s", errBound, format)
		}
		return nil
	}}, nil
}
