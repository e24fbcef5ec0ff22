//go:build manifests

package chart

import (
	"path"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// isolated checks what the restricted pod security standard leaves open: a pod has one container, which cannot write to its root,
// and no access to the API server. The rest of the standard is that of an API server.
func (c *checker) isolated() {
	for _, p := range c.pods {
		if len(p.spec.Containers)+len(p.spec.InitContainers) != 1 {
			c.report("%s has more than one container", p.owner)
		}
		if token := p.spec.AutomountServiceAccountToken; token == nil || *token {
			c.report("%s has a token of the API server", p.owner)
		}
		if links := p.spec.EnableServiceLinks; links == nil || *links {
			c.report("%s has variables of service links, which look like settings", p.owner)
		}
		if s := p.container.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
			c.report("%s: container %s writes to its root", p.owner, p.container.Name)
		}
	}
}

// Folders of authorities: those of the image, and those of the values.
const (
	imageAuthorities  = "/etc/ssl/certs"
	valuesAuthorities = "/etc/gifting/authorities"
)

// authorities checks that either every pod trusts private authorities, beside those of the image, or none does.
func (c *checker) authorities() {
	var with, without []string
	for _, p := range c.pods {
		inFolder := func(mount core.VolumeMount) bool { return mount.MountPath == valuesAuthorities }
		mounts := slices.ContainsFunc(p.container.VolumeMounts, inFolder)
		if mounts != (p.value("SSL_CERT_DIR") == imageAuthorities+":"+valuesAuthorities) {
			c.report("%s mounts private authorities and does not read them, or the reverse", p.owner)
		}
		if mounts {
			with = append(with, p.owner)
		} else {
			without = append(without, p.owner)
		}
	}
	for _, owner := range without {
		if len(with) > 0 {
			c.report("%s does not trust private authorities", owner)
		}
	}
}

// mounts checks that secrets are mounted read-only and as whole folders, because a subPath would never see a renewed
// certificate.
func (c *checker) mounts() {
	for _, p := range c.pods {
		for _, volume := range p.spec.Volumes {
			for _, mount := range p.container.VolumeMounts {
				if mount.Name == volume.Name && (volume.Secret != nil || volume.Projected != nil) && (!mount.ReadOnly || mount.SubPath != "") {
					c.report("%s: the volume %s is not mounted read-only as a folder", p.owner, volume.Name)
				}
			}
		}
	}
}

// files checks that the files that settings name are in a mounted folder. Jobs migrate and do not read them. The test names its
// key in an argument.
func (c *checker) files() {
	for _, p := range c.pods {
		for _, v := range p.container.Env {
			inFolder := func(mount core.VolumeMount) bool { return path.Dir(v.Value) == mount.MountPath }
			if p.serves() && strings.HasSuffix(v.Name, "_FILE") && !slices.ContainsFunc(p.container.VolumeMounts, inFolder) {
				c.report("%s: %s names %s, which is not mounted", p.owner, v.Name, v.Value)
			}
		}
		if key := p.flag("key-file"); p.test && mounted(p, path.Dir(key)) == "" {
			c.report("%s: --key-file names %s, which is not mounted", p.owner, key)
		}
	}
}

// probes checks that the probes of every server use existing ports.
func (c *checker) probes() {
	for _, p := range c.pods {
		if !p.serves() {
			continue
		}
		for name, probe := range map[string]*core.Probe{
			"startup": p.container.StartupProbe, "liveness": p.container.LivenessProbe, "readiness": p.container.ReadinessProbe,
		} {
			if probe == nil || probe.HTTPGet == nil {
				c.report("%s has no %s probe over HTTP", p.owner, name)
				continue
			}
			if _, found := p.port(probe.HTTPGet.Port.String()); !found || probe.HTTPGet.Port.Type != intstr.String {
				c.report("%s: the %s probe uses the port %s, which does not exist", p.owner, name, probe.HTTPGet.Port.String())
			}
		}
	}
}

// gracePeriods checks that programs have enough time to finish their calls.
func (c *checker) gracePeriods() {
	for _, p := range c.pods {
		if !p.serves() {
			continue
		}
		var needed time.Duration
		for _, name := range []string{"GIFTING_LAME_DUCK", "GIFTING_DRAIN_TIMEOUT"} {
			part, err := time.ParseDuration(p.value(name))
			if err != nil {
				c.report("%s: %s: %v", p.owner, name, err)
			}
			needed += part
		}
		// An attempt to deliver a webhook begins before the shutdown and ends at its time-out.
		if attempt, err := time.ParseDuration(p.value("GIFTING_WEBHOOK_TIMEOUT")); err == nil {
			needed = max(needed, attempt)
		}
		grace := p.spec.TerminationGracePeriodSeconds
		if grace == nil || time.Duration(*grace)*time.Second <= needed {
			c.report("%s is killed before it finishes its calls", p.owner)
		}
	}
}
