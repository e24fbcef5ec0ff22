//go:build manifests

package chart

import (
	"encoding/json"
	"regexp"

	core "k8s.io/api/core/v1"

	"github.com/partnergifting/platform/deploy/programs"
)

// environments hold the settings that the programs know, all that are required, and secrets by reference only.
func (c *checker) environments() {
	for _, p := range c.pods {
		for _, container := range p.spec.Containers {
			known, found := c.programs[program(container)]
			if !found {
				c.fault("%s runs %v, which is no program of the platform", p.owner, container.Command)
				continue
			}
			if len(container.EnvFrom) > 0 {
				c.fault("%s takes whatever an object holds as its environment", p.owner)
			}
			for _, fault := range known.Check(environment(container)) {
				c.fault("%s: %s", p.owner, fault)
			}
		}
	}
}

func environment(container core.Container) []programs.Variable {
	var all []programs.Variable
	for _, v := range container.Env {
		all = append(all, programs.Variable{Name: v.Name, Value: v.Value, Secret: v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil})
	}
	return all
}

// leaks are what secrets look like, wherever they stand.
var leaks = map[string]*regexp.Regexp{
	"a password in a URL":           regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/:@"]*:[^\s/@"]+@`),
	"a password in a list of words": regexp.MustCompile(`(?i)\b(password|passwd|secret)=[^\s"$]`),
	"a private key":                 regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`),
	"a key of 32 bytes":             regexp.MustCompile(`(^|[^A-Za-z0-9+/])[A-Za-z0-9+/]{43}=($|[^A-Za-z0-9+/=])`),
	"an access key":                 regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`),
	"a bearer token":                regexp.MustCompile(`(?i)\bbearer [a-z0-9._~+/-]{8,}`),
}

var secretName = regexp.MustCompile(`PASSWORD|SECRET|TOKEN|CREDENTIAL|SEAL_KEY|ACCESS_KEY|OTLP_HEADERS|DATABASE_URL|REDIS_URL`)

// secrets are in no object that the chart makes: neither by what a variable is called nor by what a text looks like.
func (c *checker) secrets() {
	for _, object := range c.objects {
		text, err := json.Marshal(object)
		if err != nil {
			c.fault("%s %s: %v", kindOf(object), object.GetName(), err)
		}
		for what, form := range leaks {
			if form.Match(text) {
				c.fault("%s %s holds %s", kindOf(object), object.GetName(), what)
			}
		}
	}
	for _, p := range c.pods {
		for _, container := range p.spec.Containers {
			for _, v := range container.Env {
				if secretName.MatchString(v.Name) && (v.ValueFrom == nil || v.ValueFrom.SecretKeyRef == nil) {
					c.fault("%s: %s is a secret by its name and stands in the open", p.owner, v.Name)
				}
			}
		}
	}
}
