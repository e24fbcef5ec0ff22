package rules

import (
	"regexp"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Actor is who acts, as the audit keeps it: without a name.
type Actor struct {
	Kind string
	ID   string
}

const (
	maxActorID   = 128
	maxActorName = 255
)

// actorID keeps e-mail addresses and names out of the audit.
var actorID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/|-]*$`)

// ReadActor demands the acting person of an operation.
func ReadActor(errs *fields.Errors, a *commonv1.Actor) Actor {
	const at = "actor"
	if a == nil {
		errs.Add(at, problem.FieldRequired, "is required")
		return Actor{}
	}
	errs.MaxLen(at+".name", a.GetName(), maxActorName)
	switch a.GetKind() {
	case commonv1.ActorKind_ACTOR_KIND_SYSTEM:
		if a.GetId() != "" {
			errs.Add(at+".id", problem.FieldInvalid, "must be empty for SYSTEM")
		}
	case commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT,
		commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT:
		errs.Required(at+".id", a.GetId(), maxActorID)
		if !actorID.MatchString(a.GetId()) {
			errs.Add(at+".id", problem.FieldInvalid, "must be an id of letters, digits and . _ : / | -")
		}
	case commonv1.ActorKind_ACTOR_KIND_UNSPECIFIED:
		errs.Add(at+".kind", problem.FieldRequired, "is required")
	default:
		errs.Add(at+".kind", problem.FieldInvalid, "is not a known kind")
	}
	return Actor{Kind: strings.TrimPrefix(a.GetKind().String(), "ACTOR_KIND_"), ID: a.GetId()}
}
