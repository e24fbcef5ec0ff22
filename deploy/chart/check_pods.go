//go:build manifests

package chart

import (
	"regexp"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// restricted is the restricted profile of the pod security standards, and a file system that nobody writes to.
func (c *checker) restricted() {
	for _, p := range c.pods {
		if p.spec.HostNetwork || p.spec.HostPID || p.spec.HostIPC {
			c.fault("%s shares a namespace of its host", p.owner)
		}
		if token := p.spec.AutomountServiceAccountToken; token == nil || *token {
			c.fault("%s has a token of the API server", p.owner)
		}
		if links := p.spec.EnableServiceLinks; links == nil || *links {
			c.fault("%s has variables of service links, which look like settings", p.owner)
		}
		for _, container := range append(p.spec.InitContainers, p.spec.Containers...) {
			if !isRestricted(container.SecurityContext) {
				c.fault("%s: container %s is not restricted", p.owner, container.Name)
			}
		}
		pod := p.spec.SecurityContext
		if pod == nil || pod.RunAsUser == nil || *pod.RunAsUser == 0 || pod.RunAsGroup == nil || *pod.RunAsGroup == 0 {
			c.fault("%s runs as root", p.owner)
		}
	}
}

func isRestricted(s *core.SecurityContext) bool {
	return s != nil &&
		s.RunAsNonRoot != nil && *s.RunAsNonRoot &&
		(s.RunAsUser == nil || *s.RunAsUser != 0) &&
		s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem &&
		s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation &&
		(s.Privileged == nil || !*s.Privileged) &&
		s.Capabilities != nil && len(s.Capabilities.Add) == 0 &&
		len(s.Capabilities.Drop) == 1 && s.Capabilities.Drop[0] == "ALL" &&
		s.SeccompProfile != nil && s.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault
}

var pinned = regexp.MustCompile(`^[^\s:@]+(:[0-9]+)?(/[^\s:@]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$`)

// images are pinned, and all pods of a release have the same.
func (c *checker) images() {
	images := map[string]bool{}
	for _, p := range c.pods {
		for _, container := range append(p.spec.InitContainers, p.spec.Containers...) {
			images[container.Image] = true
			if !pinned.MatchString(container.Image) || strings.HasSuffix(container.Image, ":latest") {
				c.fault("%s: the image %s is not pinned", p.owner, container.Image)
			}
		}
	}
	if len(images) > 1 {
		c.fault("the pods have different images: %v", images)
	}
}

// resources are asked for, and memory is limited.
func (c *checker) resources() {
	for _, p := range c.pods {
		for _, container := range p.spec.Containers {
			r := container.Resources
			if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().IsZero() {
				c.fault("%s: container %s does not say what it needs", p.owner, container.Name)
			}
			if r.Limits.Memory().Cmp(*r.Requests.Memory()) < 0 {
				c.fault("%s: container %s asks for more memory than it may have", p.owner, container.Name)
			}
		}
	}
}

// volumes are mounted where they are declared, and what is secret is mounted read-only and not by subPath, which would
// never see it change.
func (c *checker) volumes() {
	for _, p := range c.pods {
		declared := map[string]core.Volume{}
		for _, v := range p.spec.Volumes {
			declared[v.Name] = v
			if v.HostPath != nil {
				c.fault("%s mounts a folder of its host", p.owner)
			}
		}
		for _, container := range p.spec.Containers {
			for _, mount := range container.VolumeMounts {
				volume, found := declared[mount.Name]
				if !found {
					c.fault("%s mounts %s, which there is not", p.owner, mount.Name)
				}
				if volume.Secret != nil && (!mount.ReadOnly || mount.SubPath != "") {
					c.fault("%s: the secret %s is not mounted read-only as a folder", p.owner, volume.Secret.SecretName)
				}
			}
		}
	}
}

// probes of everything that serves ask ports that are there.
func (c *checker) probes() {
	for _, p := range c.pods {
		if p.job {
			continue
		}
		for _, container := range p.spec.Containers {
			for name, probe := range map[string]*core.Probe{
				"startup": container.StartupProbe, "liveness": container.LivenessProbe, "readiness": container.ReadinessProbe,
			} {
				if probe == nil || probe.HTTPGet == nil {
					c.fault("%s has no %s probe over HTTP", p.owner, name)
					continue
				}
				if _, found := p.port(probe.HTTPGet.Port.String()); !found || probe.HTTPGet.Port.Type != intstr.String {
					c.fault("%s: the %s probe asks the port %s, which there is not", p.owner, name, probe.HTTPGet.Port.String())
				}
			}
		}
	}
}

// ends are long enough for what a program does then.
func (c *checker) ends() {
	for _, p := range c.pods {
		if p.job {
			continue
		}
		var needed time.Duration
		for _, name := range []string{"GIFTING_LAME_DUCK", "GIFTING_DRAIN_TIMEOUT"} {
			part, err := time.ParseDuration(value(p.spec.Containers[0], name))
			if err != nil {
				c.fault("%s: %s: %v", p.owner, name, err)
			}
			needed += part
		}
		grace := p.spec.TerminationGracePeriodSeconds
		if grace == nil || time.Duration(*grace)*time.Second <= needed {
			c.fault("%s is killed while it still finishes calls", p.owner)
		}
	}
}
