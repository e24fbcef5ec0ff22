// Package chart checks the Helm chart of helm/gifting: every object strictly against the types of Kubernetes, and rules that
// neither these types nor the schema of the values can express, such as that no secret is in plain text and that every
// selector selects the right pods.
//
// It is built with the tag "manifests" and run by `make lint-chart`, because the types of Kubernetes take long to compile.
//
// With the tag "apiserver" too, as in `make chart-apply`, its tests apply the chart and its examples to a kube-apiserver that
// .tools/apiserver pins, with the definitions of all custom resources. No controller, scheduler or kubelet runs: objects are
// validated, admitted and stored, and the pods of every template are admitted by the restricted pod security standard. That a pod
// starts is not shown.
package chart
