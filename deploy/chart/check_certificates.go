//go:build manifests

package chart

import (
	"slices"
	"time"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/partnergifting/platform/pkg/identity"
)

// certificates say who the part is that mounts them, for every name it is reached by. Given ones cannot be looked at.
func (c *checker) certificates() {
	asked := of[*certmanager.Certificate](c.objects)
	for _, p := range c.pods {
		if p.job {
			continue
		}
		container := p.spec.Containers[0]
		secret := mounted(p, "/etc/gifting/tls")
		if secret == "" {
			c.fault("%s mounts no certificate", p.owner)
		}
		at := slices.IndexFunc(asked, func(cert *certmanager.Certificate) bool { return cert.Spec.SecretName == secret })
		if len(asked) == 0 {
			continue
		}
		if at < 0 {
			c.fault("%s mounts the certificate of %s, which nobody makes", p.owner, secret)
			continue
		}
		name := identity.Name(program(container))
		if uri := name.URI(value(container, "GIFTING_TLS_TRUST_DOMAIN")); !slices.Equal(asked[at].Spec.URIs, []string{uri}) {
			c.fault("%s has the certificate of %v, not of %s", p.owner, asked[at].Spec.URIs, uri)
		}
		for _, use := range []certmanager.KeyUsage{certmanager.UsageServerAuth, certmanager.UsageClientAuth} {
			if !slices.Contains(asked[at].Spec.Usages, use) {
				c.fault("%s: the certificate is not for %s", p.owner, use)
			}
		}
		for _, s := range of[*core.Service](c.objects) {
			if len(c.selected(&meta.LabelSelector{MatchLabels: s.Spec.Selector})) == 1 &&
				c.selected(&meta.LabelSelector{MatchLabels: s.Spec.Selector})[0].owner == p.owner &&
				!slices.Contains(asked[at].Spec.DNSNames, s.Name) {
				c.fault("%s: the certificate lacks the name %s", p.owner, s.Name)
			}
		}
	}
}

// alarmed is how long before its end the rules tell of a certificate that was not renewed.
const alarmed = 7 * 24 * time.Hour

// renewals come before the rules tell of them, or somebody is called for every certificate that is as it should be.
func (c *checker) renewals() {
	if len(of[*monitoring.PrometheusRule](c.objects)) == 0 {
		return
	}
	for _, cert := range of[*certmanager.Certificate](c.objects) {
		if cert.Spec.RenewBefore == nil || cert.Spec.RenewBefore.Duration <= alarmed {
			c.fault("Certificate %s is renewed after the alert on its end", cert.Name)
		}
	}
}

// mounted is the Secret that a pod mounts at the path.
func mounted(p pod, path string) string {
	for _, mount := range p.spec.Containers[0].VolumeMounts {
		for _, volume := range p.spec.Volumes {
			if mount.MountPath == path && volume.Name == mount.Name && volume.Secret != nil {
				return volume.Secret.SecretName
			}
		}
	}
	return ""
}
