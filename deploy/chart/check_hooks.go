//go:build manifests

package chart

import (
	"slices"
	"strconv"
	"strings"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	hookEvents = "helm.sh/hook"
	hookWeight = "helm.sh/hook-weight"
	hookDelete = "helm.sh/hook-delete-policy"
)

// hooks run before an installation and before an upgrade, and what they need is there before them: a hook sees nothing of
// its release. Each service with a database has one, or none has.
func (c *checker) hooks() {
	jobs := of[*batch.Job](c.objects)
	var migrated []string
	for _, j := range jobs {
		c.hook("Job "+j.Name, j)
		migrated = append(migrated, program(j.Spec.Template.Spec.Containers[0]))
		account := j.Spec.Template.Spec.ServiceAccountName
		needed := slices.IndexFunc(of[*core.ServiceAccount](c.objects), func(s *core.ServiceAccount) bool { return s.Name == account })
		if needed < 0 {
			c.fault("Job %s runs as %s, which there is not", j.Name, account)
			continue
		}
		c.before(of[*core.ServiceAccount](c.objects)[needed], j)
		if len(j.Spec.Template.Spec.Volumes) > 0 {
			c.fault("Job %s mounts what may not be there yet", j.Name)
		}
		for _, policy := range c.policed() {
			if strings.HasSuffix(policy.Name, "-migration") {
				c.before(policy, j)
			}
		}
	}
	for name, program := range c.programs {
		_, keeps := program.Settings["GIFTING_DATABASE_URL"]
		if len(jobs) > 0 && keeps != slices.Contains(migrated, name) {
			c.fault("the database of %s is not migrated, or it has none", name)
		}
	}
}

func (c *checker) hook(who string, object meta.Object) {
	events := strings.Split(object.GetAnnotations()[hookEvents], ",")
	if !slices.Contains(events, "pre-install") || !slices.Contains(events, "pre-upgrade") {
		c.fault("%s is no hook before installation and upgrade", who)
	}
	if !strings.Contains(object.GetAnnotations()[hookDelete], "before-hook-creation") {
		c.fault("%s is in its own way the next time", who)
	}
}

func (c *checker) before(needed Object, j *batch.Job) {
	c.hook(kindOf(needed)+" "+needed.GetName(), needed)
	first, err := strconv.Atoi(needed.GetAnnotations()[hookWeight])
	then, errThen := strconv.Atoi(j.Annotations[hookWeight])
	if err != nil || errThen != nil || first >= then {
		c.fault("%s %s is not there before Job %s", kindOf(needed), needed.GetName(), j.Name)
	}
}
