//go:build manifests

package chart

import (
	"encoding/json"
	"regexp"
	"slices"

	core "k8s.io/api/core/v1"
)

// environments checks that environments have only known settings, all required ones, and secrets only by reference.
func (c *checker) environments() {
	for _, p := range c.pods {
		whole := func(from core.EnvFromSource) bool { return from.SecretRef != nil }
		if slices.ContainsFunc(p.container.EnvFrom, whole) {
			c.report("%s takes its environment from a whole Secret", p.owner)
		}
		if p.test && p.program() == "giftingctl" {
			continue // It has no settings.
		}
		known, found := c.programs[p.program()]
		if !found {
			c.report("%s runs %v, which is not a program of the platform", p.owner, p.container.Command)
			continue
		}
		for _, problem := range known.Check(p.variables()) {
			c.report("%s: %s", p.owner, problem)
		}
	}
}

// leaks matches the forms of secrets, which no object may contain.
var leaks = map[string]*regexp.Regexp{
	"a password in a URL":           regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/:@"]*:[^\s/@"]+@`),
	"a password in a list of words": regexp.MustCompile(`(?i)\b(password|passwd|secret)=[^\s"$]`),
	"a private key":                 regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`),
	"a key of 32 bytes":             regexp.MustCompile(`(^|[^A-Za-z0-9+/])[A-Za-z0-9+/]{43}=($|[^A-Za-z0-9+/=])`),
	"an access key":                 regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`),
	"a bearer token":                regexp.MustCompile(`(?i)\bbearer [a-z0-9._~+/-]{8,}`),
}

// secretName matches variables that are secrets although they are not settings of a program.
var secretName = regexp.MustCompile(`PASSWORD|SECRET|TOKEN|CREDENTIAL|ACCESS_KEY|OTLP_HEADERS`)

// secrets checks that no object contains a secret, by the names of variables and by the forms of texts.
func (c *checker) secrets() {
	for _, object := range c.objects {
		text, err := json.Marshal(object)
		if err != nil {
			c.report("%s: %v", title(object), err)
		}
		for what, form := range leaks {
			if form.Match(text) {
				c.report("%s holds %s", title(object), what)
			}
		}
	}
	for _, p := range c.pods {
		for _, v := range p.variables() {
			if secretName.MatchString(v.Name) && !v.Secret {
				c.report("%s: %s is a secret by its name, in plain text", p.owner, v.Name)
			}
		}
	}
}
