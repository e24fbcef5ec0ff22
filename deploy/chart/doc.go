// Package chart checks the Helm chart of helm/gifting: every object strictly against the types of Kubernetes, and rules that
// neither these types nor the schema of the values can express, such as that no secret is in plain text and that every
// selector selects the right pods.
//
// It is built with the tag "manifests" and run by `make lint-chart`, because the types of Kubernetes take long to compile.
package chart
