// Package server implements the gRPC methods of the tenants service.
package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/moves"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// Deps are what the services work with.
type Deps struct {
	Store    *store.Store
	Versions *versions.Publisher
	Moves    *moves.Mover
	// Ring seals signing secrets.
	Ring *seal.Ring
	// Privacy erases and exports what is stored about persons.
	Privacy *privacy.Coordinator
	// Holders are the services that store data of tenants, in the order in which they are erased and exported.
	Holders []offboarding.Holder
	// Currencies of the catalog, which may not answer.
	Currencies catalogv1.CurrenciesServiceClient
	// Own describes the data of tenants in the service's own database.
	Own tenants.Database
	Log *slog.Logger
	Now func() time.Time
}

// Config of the services.
type Config struct {
	// Environment is the one that new keys belong to.
	Environment apikey.Environment
	// LoopbackWebhooks also accepts plain http URLs to this machine.
	LoopbackWebhooks bool
	// OffboardingGrace is how long an off-boarded tenant is stored, if the request does not say it.
	OffboardingGrace time.Duration
}

// Collectors are the methods that report the gateway's field errors together with their own.
func Collectors() []string {
	return []string{tenantsv1.TenantsService_RotateOwnWebhookSecret_FullMethodName}
}

// Register adds all services to a gRPC server.
func Register(s grpc.ServiceRegistrar, deps Deps, cfg Config) {
	tenantsv1.RegisterTenantsServiceServer(s, &public{Deps: deps, environment: cfg.Environment})
	tenantsv1.RegisterDirectoryServiceServer(s, &directory{store: deps.Store, ring: deps.Ring, log: deps.Log})
	tenantsv1.RegisterTenantOperationsServiceServer(s, &operations{Deps: deps, Config: cfg})
	tenantsv1.RegisterOffboardingOperationsServiceServer(s, &offboardings{Deps: deps, grace: cfg.OffboardingGrace})
	tenantsv1.RegisterCellOperationsServiceServer(s, &cells{Deps: deps, Config: cfg})
	tenantsv1.RegisterPrivacyOperationsServiceServer(s, &persons{store: deps.Store, privacy: deps.Privacy})
}

// public is the public plane: it shows a key itself and its tenant, and rotates its signing secret.
type public struct {
	tenantsv1.UnimplementedTenantsServiceServer
	Deps

	environment apikey.Environment
}

// directory serves the other services of the platform. It always reads the database.
type directory struct {
	tenantsv1.UnimplementedDirectoryServiceServer

	store *store.Store
	ring  *seal.Ring
	log   *slog.Logger
}

// operations is the operations plane, which sets up tenants and their keys. Every change is published to the edges after its
// commit. A call that changes nothing publishes too, in case an earlier publication failed.
type operations struct {
	tenantsv1.UnimplementedTenantOperationsServiceServer
	Deps
	Config
}

// operation is a request of the operations plane.
type operation interface {
	GetActor() *commonv1.Actor
	GetTenantId() string
}

// admit checks what every request of the operations plane has, and adds its violations to errs. The store checks the permission, in
// the transaction of the call.
func admit(ctx context.Context, req operation, errs *fields.Errors) (tenantID string, by store.Authorization) {
	caller.CheckActor(req.GetActor(), errs)
	return errs.RequiredUUID("tenantId", req.GetTenantId()), store.Authorization{Actor: req.GetActor(), Needs: permission(ctx)}
}

// permission is what the call needs.
func permission(ctx context.Context) caller.Permission {
	method, _ := grpc.Method(ctx)
	return rules.Access(method)
}

// publish tells the edges of a change, unless err refused it.
func (d *Deps) publish(ctx context.Context, tenantID string, version int64, err error) error {
	if err != nil {
		return asProblem(err)
	}
	return d.Versions.Publish(ctx, tenantID, version)
}

// sealSecret seals a signing secret for the key it belongs to.
func (d *Deps) sealSecret(keyID int32, secret string) []byte {
	return d.Ring.Seal([]byte(secret), rules.SecretData(keyID))
}

// asProblem turns an error of the store into a problem.
func asProblem(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return problem.RecordNotFound()
	case errors.Is(err, store.ErrSlugTaken):
		return invalid("brand.slug", problem.FieldDuplicate, "belongs to another brand of the tenant")
	case errors.Is(err, store.ErrEmailTaken):
		return invalid("member.email", problem.FieldDuplicate, "belongs to another member of the team")
	case errors.Is(err, store.ErrNoCell):
		return problem.New(problem.NotEditable, "The cell is unknown, closed or full.")
	case errors.Is(err, store.ErrSameCell):
		return problem.New(problem.NotEditable, "The tenant is in this cell.")
	case errors.Is(err, store.ErrMoving):
		return problem.New(problem.NotEditable, "The tenant is being moved to another cell: wait until it is there, or cancel the move.")
	case errors.Is(err, store.ErrMoved):
		return problem.New(problem.NotEditable, "The tenant is in the new cell: move it back.")
	case errors.Is(err, store.ErrOffboarded):
		return problem.New(problem.NotEditable, "The tenant is off-boarded.")
	case errors.Is(err, store.ErrErasing):
		return problem.New(problem.NotEditable, "The erasure of the tenant has begun.")
	case errors.Is(err, store.ErrLastAdministrator):
		return problem.New(problem.NotEditable, "The team would have no active Administrator: name another one first.")
	case errors.Is(err, store.ErrTypeFixed):
		return invalid("field.type", problem.FieldInvalid, "cannot be changed once the field exists")
	default:
		return err
	}
}

func invalid(field, code, message string) error {
	return problem.Invalid(problem.Violation{Field: field, Code: code, Message: message})
}
