package fields

import (
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// maxLocal is the maximum length of what precedes the @, in octets (RFC 5321, section 4.5.3.1.1).
	maxLocal = 64
	// maxDomain is longer than any name in the DNS. It bounds the time of a conversion to ASCII, which grows with the square of the
	// length.
	maxDomain = 255
)

// domainProfile converts domains to ASCII. It does not check hyphens, because old names such as ab--c.example have two after their
// second letter.
var domainProfile = idna.New(
	idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(true), idna.VerifyDNSLength(true), idna.CheckHyphens(false),
)

// Email checks an optional address of at most limit code points. A blank one counts as absent.
func (e *Errors) Email(field, value string, limit int) {
	e.Line(field, value, limit)
	if !Blank(value) && !IsEmail(value) {
		e.Add(field, problem.FieldInvalid, "must be an e-mail address")
	}
}

// IsEmail reports whether s is a bare address: no display name, no comment, nothing invisible, and a domain of the DNS with a dot.
func IsEmail(s string) bool {
	addr, err := mail.ParseAddress(s)
	if err != nil || addr.Address != s || addr.Name != "" || !visible(s) || strings.ContainsAny(s, "\"<>") {
		return false
	}
	at := strings.LastIndexByte(s, '@')
	_, ok := asciiDomain(s[at+1:])
	return ok && at <= maxLocal
}

// EmailKey returns the form in which addresses are compared: in lower case, with the domain in ASCII. Space around the address does
// not count.
func EmailKey(s string) string {
	s = strings.ToLower(strings.TrimFunc(s, invisible))
	at := strings.LastIndexByte(s, '@') + 1
	if ascii, ok := asciiDomain(s[at:]); ok {
		return s[:at] + ascii
	}
	return s
}

// asciiDomain converts a domain to ASCII. ok is false if it cannot be the domain of an address.
func asciiDomain(name string) (ascii string, ok bool) {
	if utf8.RuneCountInString(name) > maxDomain {
		return "", false
	}
	ascii, err := domainProfile.ToASCII(name)
	if err != nil || !strings.Contains(ascii, ".") || strings.HasSuffix(ascii, ".") {
		return "", false
	}
	// No label may begin or end with a hyphen. In the ASCII form of a label with other letters, such a hyphen is in another place.
	for _, form := range []string{name, ascii} {
		if labels := "." + form + "."; strings.Contains(labels, ".-") || strings.Contains(labels, "-.") {
			return "", false
		}
	}
	return ascii, true
}

// URL checks an optional URL of at most limit code points. A blank one counts as absent.
func (e *Errors) URL(field, value string, limit int, schemes ...string) {
	e.Line(field, value, limit)
	if !Blank(value) && !IsURL(value, schemes...) {
		e.Add(field, problem.FieldInvalid, "must be an absolute "+strings.Join(schemes, " or ")+
			" URL without user, password, spaces, backslashes and invisible characters")
	}
}

// IsURL reports whether s is an absolute URL of one of the schemes that a page may show and link to. It must have no user and no
// password, because everyone would see them.
func IsURL(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && visible(s) && !strings.ContainsRune(s, '\\') && // Browsers read a backslash as a slash.
		slices.Contains(schemes, u.Scheme) && u.Hostname() != "" && u.User == nil
}

// visible reports whether s is valid text without invisible characters. Other programs may drop or replace those, so the address
// would change.
func visible(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return invisible(r) || !unicode.IsGraphic(r) })
}
