// Package operation is the table of the public operations: the method and path of each, the scope it needs and the status of its
// success.
//
// Method and path come from the google.api.http annotations of the contracts. The rules in this package add scope and status. New
// returns an error if contracts and rules do not have the same operations.
//
// The operations below /sandbox are only in the table of the sandbox. In production their paths are unknown.
package operation

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// Operation is one public operation.
type Operation struct {
	// Name is the full gRPC method.
	Name string
	// Owner is the package of the service that owns the operation.
	Owner string
	// Method is GET or POST.
	Method string
	// Path is the template, such as /orders/{order_id}.
	Path    string
	Scope   commonv1.Scope
	Success int
	// EmptyBody means that the body of the POST may be empty, because the request has no required member.
	EmptyBody bool
	// KeyIgnored means that the POST has no effect: it needs no Idempotency-Key, and one that is sent does not matter.
	KeyIgnored bool
	// Conditional means that the record has an ETag: a read returns it and obeys If-None-Match, an action obeys If-Match.
	Conditional bool
	// State returns the state of a read record for its ETag; nil if the tag is made of the body alone.
	State func(answer proto.Message) string
	// Created returns the path of what a request to the path has created; it is nil if the operation creates nothing.
	Created func(path string, answer proto.Message) string
	// Request is the type of the request message.
	Request protoreflect.MessageType
	// PathFields are the request's fields bound to the path.
	PathFields []string
	// Sandbox is the action of an operation that exists only in the sandbox, such as approve; empty for the others.
	Sandbox string

	segments []string
	verb     string
}

// Table finds operations by method and path.
type Table struct {
	operations []*Operation
}

var errTable = errors.New("operation table and contracts differ")

// New builds the table of an environment from the contracts of its public services.
func New(environment apikey.Environment) (*Table, error) {
	t := &Table{}
	contracts, unmatched := contracts(), rules()
	if environment == apikey.Sandbox {
		contracts = append(contracts, sandboxContracts()...)
		maps.Copy(unmatched, sandboxRules())
	}
	for _, file := range contracts {
		for i := range file.Services().Len() {
			if err := t.addService(file.Services().Get(i), unmatched); err != nil {
				return nil, err
			}
		}
	}
	for name := range unmatched {
		return nil, fmt.Errorf("%w: %s is in no contract", errTable, name)
	}
	return t, nil
}

// contracts are those of every environment.
func contracts() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		tenantsv1.File_gifting_tenants_v1_tenants_proto,
		catalogv1.File_gifting_catalog_v1_catalog_proto,
		ordersv1.File_gifting_orders_v1_orders_proto,
		personallinksv1.File_gifting_personallinks_v1_personal_links_proto,
		eventsv1.File_gifting_events_v1_events_proto,
		webhookv1.File_gifting_webhook_v1_webhook_proto,
	}
}

func (t *Table) addService(service protoreflect.ServiceDescriptor, unmatched map[string]rule) error {
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		binding, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
		if binding == nil {
			continue
		}
		name := fmt.Sprintf("/%s/%s", service.FullName(), method.Name())
		r, ok := unmatched[name]
		if !ok {
			return fmt.Errorf("%w: %s has no row", errTable, name)
		}
		delete(unmatched, name)
		request, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			return fmt.Errorf("request of %s: %w", name, err)
		}
		op := newOperation(name, binding, r)
		op.Request, op.Owner = request, string(service.ParentFile().Package())
		op.EmptyBody = !op.requiresMembers()
		t.operations = append(t.operations, op)
	}
	return nil
}

func newOperation(name string, binding *annotations.HttpRule, r rule) *Operation {
	op := &Operation{
		Name: name, Method: http.MethodGet, Path: binding.GetGet(), Scope: r.scope, Success: r.success, KeyIgnored: r.keyIgnored,
		Conditional: r.conditional, State: r.state, Created: r.created,
	}
	if binding.GetPost() != "" {
		op.Method, op.Path = http.MethodPost, binding.GetPost()
	}
	if op.Success == 0 {
		op.Success = http.StatusOK
	}
	op.segments, op.verb = split(op.Path)
	if strings.HasPrefix(op.Path, SandboxPrefix) {
		op.Sandbox = op.verb
	}
	for _, segment := range op.segments {
		if isVariable(segment) {
			op.PathFields = append(op.PathFields, strings.Trim(segment, "{}"))
		}
	}
	return op
}

// requiresMembers reports whether the body must have a member.
func (o *Operation) requiresMembers() bool {
	fields := o.Request.Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); !slices.Contains(o.PathFields, string(f.Name())) && Required(f) {
			return true
		}
	}
	return false
}

// Required reports whether a request must have the field: it is neither optional nor a list or map, unless the contract says
// otherwise.
func Required(f protoreflect.FieldDescriptor) bool {
	if proto.HasExtension(f.Options(), commonv1.E_Required) {
		required, _ := proto.GetExtension(f.Options(), commonv1.E_Required).(bool)
		return required
	}
	return !f.HasOptionalKeyword() && !f.IsList() && !f.IsMap()
}

// Find returns the operation of a method and path. If there is none, it returns the methods of the path; without any, the path
// is unknown.
func (t *Table) Find(method, path string) (op *Operation, allowed []string) {
	segments, verb := split(path)
	for _, candidate := range t.operations {
		if !candidate.matches(segments, verb) {
			continue
		}
		if candidate.Method == method || candidate.Method == http.MethodGet && method == http.MethodHead {
			return candidate, nil
		}
		allowed = append(allowed, candidate.Method)
		if candidate.Method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	return nil, allowed
}

// All lists the operations in the order of the contracts.
func (t *Table) All() []*Operation { return t.operations }

func (o *Operation) matches(segments []string, verb string) bool {
	return o.verb == verb && slices.EqualFunc(o.segments, segments, func(want, got string) bool {
		return want == got || isVariable(want) && got != ""
	})
}

// Canonical returns a path of the operation with its UUIDs in lower case. To all that follows, such as the fingerprint of a
// request, both forms are one path.
func (o *Operation) Canonical(path string) string {
	segments, verb := split(path)
	for i, segment := range o.segments {
		if id, ok := fields.ParseUUID(segments[i]); ok && isVariable(segment) {
			segments[i] = id
		}
	}
	canonical := "/" + strings.Join(segments, "/")
	if verb != "" {
		canonical += ":" + verb
	}
	return canonical
}

func isVariable(segment string) bool { return strings.HasPrefix(segment, "{") }

// split returns the segments of a path, and the action after the colon of the last one.
func split(path string) (segments []string, verb string) {
	segments = strings.Split(strings.TrimPrefix(path, "/"), "/")
	last := len(segments) - 1
	if i := strings.LastIndexByte(segments[last], ':'); i >= 0 {
		segments[last], verb = segments[last][:i], segments[last][i+1:]
		if verb == "" {
			verb = ":" // No action has this name.
		}
	}
	return segments, verb
}

// rule has the properties of an operation that its contract does not have.
type rule struct {
	// scope is the required scope; unspecified means any valid key.
	scope commonv1.Scope
	// success is the status of a successful response; zero means 200.
	success     int
	keyIgnored  bool
	conditional bool
	state       func(answer proto.Message) string
	created     func(path string, answer proto.Message) string
}

// placedOrder is the path of an order that was placed.
func placedOrder(path string, answer proto.Message) string {
	placed, ok := answer.(interface{ GetOrder() *ordersv1.Order }) // grpc-gateway wraps the answer.
	if !ok {
		return path
	}
	return path + "/" + placed.GetOrder().GetId()
}

// stateOfOrder is the state of the order that was read.
func stateOfOrder(answer proto.Message) string {
	read, ok := answer.(interface{ GetOrder() *ordersv1.Order }) // grpc-gateway wraps the answer.
	if !ok {
		return ""
	}
	return caller.OrderState(read.GetOrder())
}

// postedMessage is the path of the messages of an order. A message has no path of its own.
func postedMessage(path string, _ proto.Message) string { return path }

const (
	anyKey        = commonv1.Scope_SCOPE_UNSPECIFIED
	catalog       = commonv1.Scope_SCOPE_CATALOG
	orders        = commonv1.Scope_SCOPE_ORDERS
	personalLinks = commonv1.Scope_SCOPE_PERSONAL_LINKS
)

// rules has a row for every public operation (API specification, Endpoints, Summary).
func rules() map[string]rule {
	return map[string]rule{
		tenantsv1.TenantsService_GetMe_FullMethodName:                  {scope: anyKey, conditional: true},
		tenantsv1.TenantsService_ListBrands_FullMethodName:             {scope: catalog, conditional: true},
		tenantsv1.TenantsService_RotateOwnWebhookSecret_FullMethodName: {scope: anyKey},
		catalogv1.CatalogService_ListProducts_FullMethodName:           {scope: catalog},
		catalogv1.CatalogService_GetProduct_FullMethodName:             {scope: catalog, conditional: true},
		catalogv1.CatalogService_ListCategories_FullMethodName:         {scope: catalog, conditional: true},
		catalogv1.CatalogService_ListCampaigns_FullMethodName:          {scope: catalog},
		catalogv1.CatalogService_GetCampaign_FullMethodName:            {scope: catalog, conditional: true},
		ordersv1.OrdersService_PlaceOrder_FullMethodName: {
			scope:   orders,
			success: http.StatusCreated,
			created: placedOrder,
		},
		ordersv1.OrdersService_ValidateOrder_FullMethodName:     {scope: orders, keyIgnored: true},
		ordersv1.OrdersService_ListOrders_FullMethodName:        {scope: orders},
		ordersv1.OrdersService_GetOrder_FullMethodName:          {scope: orders, conditional: true, state: stateOfOrder},
		ordersv1.OrdersService_UpdateDelivery_FullMethodName:    {scope: orders, conditional: true},
		ordersv1.OrdersService_CancelOrder_FullMethodName:       {scope: orders, conditional: true},
		ordersv1.OrdersService_ListOrderMessages_FullMethodName: {scope: orders},
		ordersv1.OrdersService_PostOrderMessage_FullMethodName: {
			scope:       orders,
			success:     http.StatusCreated,
			created:     postedMessage,
			conditional: true,
		},
		personallinksv1.PersonalLinksService_ListPersonalLinks_FullMethodName:   {scope: personalLinks},
		personallinksv1.PersonalLinksService_CreatePersonalLinks_FullMethodName: {scope: personalLinks},
		personallinksv1.PersonalLinksService_GetPersonalLink_FullMethodName:     {scope: personalLinks, conditional: true},
		personallinksv1.PersonalLinksService_CancelPersonalLink_FullMethodName:  {scope: personalLinks},
		eventsv1.EventsService_ListEvents_FullMethodName:                        {scope: anyKey},
		webhookv1.WebhookService_TestWebhook_FullMethodName:                     {scope: anyKey},
		webhookv1.WebhookService_ListWebhookDeliveries_FullMethodName:           {scope: anyKey},
		webhookv1.WebhookService_GetWebhookHealth_FullMethodName:                {scope: anyKey},
		webhookv1.WebhookService_ResendWebhookDelivery_FullMethodName:           {scope: anyKey, success: http.StatusAccepted},
		webhookv1.WebhookService_ReplayWebhooks_FullMethodName:                  {scope: anyKey, success: http.StatusAccepted},
	}
}
