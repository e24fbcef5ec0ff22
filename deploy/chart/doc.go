// Package chart holds the Helm chart of helm/gifting against what it is for: Kubernetes' own types, decoded strictly, and
// the rules of this platform, such as that no secret is ever in the open and that every selector selects.
//
// It is built with the tag "manifests" and run by `make lint-chart`, because Kubernetes' types take their time to compile.
package chart
