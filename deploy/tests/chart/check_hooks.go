//go:build manifests

package chart

import (
	"slices"
	"strconv"
	"strings"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// hooks checks the jobs that migrate the databases before an installation and an upgrade. A hook sees no object of its release,
// so the objects that it needs must be hooks that run earlier. Either every database has a job, or none has.
func (c *checker) hooks() {
	jobs := ofKind[*batch.Job](c.objects)
	var migrated []string
	for _, p := range c.pods {
		if p.job {
			migrated = append(migrated, p.program())
		}
	}
	for _, j := range jobs {
		c.hook(j)
		account := j.Spec.Template.Spec.ServiceAccountName
		accounts := ofKind[*core.ServiceAccount](c.objects)
		if at := slices.IndexFunc(accounts, func(s *core.ServiceAccount) bool { return s.Name == account }); at >= 0 {
			c.earlier(accounts[at], j)
		} else {
			c.report("Job %s runs as %s, which does not exist", j.Name, account)
		}
		if deadline := j.Spec.ActiveDeadlineSeconds; deadline == nil || time.Duration(*deadline)*time.Second >= helmWaits {
			c.report("Job %s may still run when helm no longer waits for it", j.Name)
		}
		for _, object := range c.objects {
			if mountsConfigMap(j.Spec.Template.Spec.Volumes, object) {
				c.earlier(object, j)
			}
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

// hookAnnotation names the events of a hook.
const hookAnnotation = "helm.sh/hook"

// helmWaits is how long helm waits for a hook unless it is told otherwise.
const helmWaits = 5 * time.Minute

// mountsConfigMap reports whether the object is a ConfigMap that a volume mounts.
func mountsConfigMap(volumes []core.Volume, object meta.Object) bool {
	if _, ok := object.(*core.ConfigMap); !ok {
		return false
	}
	projects := func(source core.VolumeProjection) bool {
		return source.ConfigMap != nil && source.ConfigMap.Name == object.GetName()
	}
	return slices.ContainsFunc(volumes, func(v core.Volume) bool {
		return v.ConfigMap != nil && v.ConfigMap.Name == object.GetName() ||
			v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, projects)
	})
}

func (c *checker) hook(object meta.Object) {
	events := strings.Split(object.GetAnnotations()[hookAnnotation], ",")
	if !slices.Contains(events, "pre-install") || !slices.Contains(events, "pre-upgrade") {
		c.report("%s is not a hook before installation and upgrade", title(object))
	}
	if !strings.Contains(object.GetAnnotations()["helm.sh/hook-delete-policy"], "before-hook-creation") {
		c.report("%s still exists the next time", title(object))
	}
}

// helmTests checks that a pod of its own is a test of helm, and that the policies for it exist before.
func (c *checker) helmTests() {
	for _, p := range ofKind[*core.Pod](c.objects) {
		if p.Annotations[hookAnnotation] != "test" {
			c.report("Pod %s is not a test of helm", p.Name)
		}
		if deadline := p.Spec.ActiveDeadlineSeconds; deadline == nil || time.Duration(*deadline)*time.Second >= helmWaits {
			c.report("Pod %s may still run when helm no longer waits for it", p.Name)
		}
		for _, policy := range c.networkPolicies() {
			form, err := meta.LabelSelectorAsSelector(&policy.Spec.PodSelector)
			if err != nil || !form.Matches(labels.Set(p.Labels)) || policy.Annotations[hookAnnotation] == "" {
				continue
			}
			if policy.Annotations[hookAnnotation] != "test" {
				c.report("%s does not exist while Pod %s runs", title(policy), p.Name)
			}
			c.before(policy, p)
		}
	}
}

func (c *checker) earlier(needed, object meta.Object) {
	c.hook(needed)
	c.before(needed, object)
}

// before checks that a hook exists before another one, and until that has ended.
func (c *checker) before(needed, object meta.Object) {
	if needed.GetAnnotations()["helm.sh/hook-delete-policy"] != "before-hook-creation" {
		c.report("%s may be deleted while %s runs", title(needed), title(object))
	}
	first, err := strconv.Atoi(needed.GetAnnotations()["helm.sh/hook-weight"])
	then, errThen := strconv.Atoi(object.GetAnnotations()["helm.sh/hook-weight"])
	if err != nil || errThen != nil || first >= then {
		c.report("%s does not exist before %s", title(needed), title(object))
	}
}
