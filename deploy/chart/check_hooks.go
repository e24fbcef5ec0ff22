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

// hooks checks the jobs that migrate the databases before an installation and an upgrade. A hook sees no object of its release,
// so the objects that it needs must be hooks that run earlier. Either every database has a job, or none has.
func (c *checker) hooks() {
	jobs := of[*batch.Job](c.objects)
	var migrated []string
	for _, p := range c.pods {
		if p.job {
			migrated = append(migrated, p.program())
		}
	}
	for _, j := range jobs {
		c.hook(j)
		account := j.Spec.Template.Spec.ServiceAccountName
		accounts := of[*core.ServiceAccount](c.objects)
		if at := slices.IndexFunc(accounts, func(s *core.ServiceAccount) bool { return s.Name == account }); at >= 0 {
			c.earlier(accounts[at], j)
		} else {
			c.report("Job %s runs as %s, which does not exist", j.Name, account)
		}
		if len(j.Spec.Template.Spec.Volumes) > 0 {
			c.report("Job %s mounts what may not exist yet", j.Name)
		}
		for _, policy := range c.networkPolicies() {
			if strings.HasSuffix(policy.Name, "-migration") {
				c.earlier(policy, j)
			}
		}
	}
	for name, program := range c.programs {
		if len(jobs) > 0 && (program.Database != "") != slices.Contains(migrated, name) {
			c.report("the database of %s is not migrated, or it has none", name)
		}
	}
}

func (c *checker) hook(object meta.Object) {
	events := strings.Split(object.GetAnnotations()["helm.sh/hook"], ",")
	if !slices.Contains(events, "pre-install") || !slices.Contains(events, "pre-upgrade") {
		c.report("%s is not a hook before installation and upgrade", title(object))
	}
	if !strings.Contains(object.GetAnnotations()["helm.sh/hook-delete-policy"], "before-hook-creation") {
		c.report("%s still exists the next time", title(object))
	}
}

func (c *checker) earlier(needed, object meta.Object) {
	c.hook(needed)
	first, err := strconv.Atoi(needed.GetAnnotations()["helm.sh/hook-weight"])
	then, errThen := strconv.Atoi(object.GetAnnotations()["helm.sh/hook-weight"])
	if err != nil || errThen != nil || first >= then {
		c.report("%s does not exist before %s", title(needed), title(object))
	}
}
