package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrURL means that a URL can never be a receiver's. What wraps it says why, in
// words fit for the person who entered the URL.
var ErrURL = errors.New("netguard: URL is not acceptable")

const (
	maxURLLength   = 2048
	maxNameLength  = 253
	maxLabelLength = 63
)

// localSuffixes are names that never lead to the public internet.
var localSuffixes = []string{
	".localhost", ".local", ".internal", ".localdomain", ".home.arpa", ".in-addr.arpa", ".ip6.arpa", ".onion",
}

// CheckURL reports what is wrong with a receiver's URL, or nil. It resolves no name. Addresses in a forbidden range
// are ErrForbiddenAddress, everything else is ErrURL.
func CheckURL(raw string, o Options) error {
	if len(raw) > maxURLLength {
		return refuse("longer than %d characters", maxURLLength)
	}
	// A receiver's URL in plain ASCII, without blanks and backslashes, means the same to every parser.
	for _, c := range []byte(raw) {
		if c <= ' ' || c > '~' || c == '\\' {
			return refuse("character %q must be percent-encoded", c)
		}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("not a URL")
	}
	switch {
	case !o.schemeAllowed(u):
		return refuse("the scheme must be https")
	case u.Opaque != "" || u.Hostname() == "":
		return refuse("the host is missing")
	case u.User != nil:
		return refuse("user and password are not allowed")
	case strings.Contains(raw, "#"):
		return refuse("a fragment is not allowed")
	}
	if err := checkPort(u); err != nil {
		return err
	}
	return o.checkHost(u.Hostname())
}

// schemeAllowed allows https, and http to this machine where the options say so.
func (o Options) schemeAllowed(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	if u.Scheme != "http" || !o.AllowLoopback {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

func checkPort(u *url.URL) error {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return refuse("the port is missing")
		}
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return refuse("the port is not between 1 and 65535")
	}
	return nil
}

func (o Options) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		if !o.allowed(addr) {
			return fmt.Errorf("%w: %s", ErrForbiddenAddress, addr)
		}
		return nil
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if o.AllowLoopback && name == "localhost" {
		return nil
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix("."+name, suffix) {
			return refuse("%s is a local name", name)
		}
	}
	return checkName(name)
}

// checkName accepts a host name of the public DNS and nothing that some resolver might take for a number. 2130706433,
// 0177.0.0.1 and 0x7f.1 are all 127.0.0.1 to the C library; a public top-level domain always begins with a letter.
func checkName(name string) error {
	labels := strings.Split(name, ".")
	if len(labels) < 2 {
		return refuse("the host has no domain")
	}
	if len(name) > maxNameLength {
		return refuse("the host name is too long")
	}
	for _, label := range labels {
		if !validLabel(label) {
			return refuse("the host is neither a name nor an IP address")
		}
	}
	if top := labels[len(labels)-1]; top[0] < 'a' || top[0] > 'z' {
		return refuse("the host is neither a name nor an IP address")
	}
	return nil
}

func validLabel(label string) bool {
	if label == "" || len(label) > maxLabelLength || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		letter := c >= 'a' && c <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrURL, fmt.Sprintf(format, args...))
}
