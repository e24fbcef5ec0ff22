//go:build manifests

package chart

import (
	"slices"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	core "k8s.io/api/core/v1"

	"github.com/partnergifting/platform/pkg/identity"
)

// certificates checks that each certificate names the program that mounts it and every host name of the program. Certificates
// from secrets cannot be checked.
func (c *checker) certificates() {
	made := ofKind[*certmanager.Certificate](c.objects)
	for _, p := range c.pods {
		if !p.serves() {
			continue
		}
		secret := mounted(p, "/etc/gifting/tls")
		if secret == "" {
			c.report("%s mounts no certificate", p.owner)
		}
		if len(made) == 0 {
			continue
		}
		at := slices.IndexFunc(made, func(cert *certmanager.Certificate) bool { return cert.Spec.SecretName == secret })
		if at < 0 {
			c.report("%s mounts the certificate %s, which does not exist", p.owner, secret)
			continue
		}
		spec := made[at].Spec
		if uri := identity.Name(p.program()).URI(p.value("GIFTING_TLS_TRUST_DOMAIN")); !slices.Equal(spec.URIs, []string{uri}) {
			c.report("%s has the certificate of %v, not of %s", p.owner, spec.URIs, uri)
		}
		for _, use := range []certmanager.KeyUsage{certmanager.UsageServerAuth, certmanager.UsageClientAuth} {
			if !slices.Contains(spec.Usages, use) {
				c.report("%s: the certificate is not for %s", p.owner, use)
			}
		}
		for _, s := range ofKind[*core.Service](c.objects) {
			target := c.selectedBy(s.Spec.Selector)
			if len(target) == 1 && target[0].owner == p.owner && !slices.Contains(spec.DNSNames, s.Name) {
				c.report("%s: the certificate lacks the name %s", p.owner, s.Name)
			}
		}
	}
}

// mounted is the Secret that a pod mounts at the path.
func mounted(p pod, path string) string {
	for _, mount := range p.container.VolumeMounts {
		for _, volume := range p.spec.Volumes {
			if mount.MountPath == path && volume.Name == mount.Name && volume.Secret != nil {
				return volume.Secret.SecretName
			}
		}
	}
	return ""
}
