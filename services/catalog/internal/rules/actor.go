package rules

import (
	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Actor is who acts, as the audit keeps it: without a name.
type Actor struct {
	Kind string
	ID   string
}

// ReadActor demands the acting person of an operation.
func ReadActor(a *commonv1.Actor, errs *fields.Errors) Actor {
	actor.Check(a, errs)
	return Actor{Kind: actor.Kind(a), ID: a.GetId()}
}
