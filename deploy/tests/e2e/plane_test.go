package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// The persons for whom a call is made.
const (
	byAdministrator = "Administrator"
	byCoordinator   = "Coordinator"
	byMember        = "Member"
	byStranger      = "Administrator of another tenant"
	byMadeUp        = "made-up person"
	byClient        = "client"
	byOperator      = "operator"
	bySystem        = "system"
)

// row says who may make a call: which programs, and for which persons. Without persons the request names none.
type row struct {
	programs []identity.Name
	persons  []string
}

var (
	workplaces = []identity.Name{identity.Workspace, identity.Backoffice}
	operations = []identity.Name{identity.Backoffice, identity.Operator}
	allThree   = []identity.Name{identity.Workspace, identity.Backoffice, identity.Operator}

	administrators = []string{byAdministrator, byOperator}
	coordinators   = []string{byAdministrator, byCoordinator}
	members        = []string{byAdministrator, byCoordinator, byMember, byOperator}
	platform       = []string{byOperator, bySystem}
)

func with(persons []string, more ...string) []string { return append(slices.Clone(persons), more...) }

func only(programs ...identity.Name) row { return row{programs: programs} }

// plane has every call that is not of the public plane.
var plane = map[string]row{
	"tenants.v1.TenantOperationsService/PutTenant":           {allThree, administrators},
	"tenants.v1.TenantOperationsService/PutTeamMember":       {allThree, administrators},
	"tenants.v1.TenantOperationsService/CreateKey":           {allThree, administrators},
	"tenants.v1.TenantOperationsService/UpdateKey":           {allThree, administrators},
	"tenants.v1.TenantOperationsService/RevokeKey":           {allThree, administrators},
	"tenants.v1.TenantOperationsService/SetWebhookUrl":       {allThree, administrators},
	"tenants.v1.TenantOperationsService/RotateWebhookSecret": {allThree, administrators},
	"tenants.v1.TenantOperationsService/PutBrand":            {allThree, with(coordinators, platform...)},
	"tenants.v1.TenantOperationsService/PutGiftSite":         {allThree, with(coordinators, platform...)},
	"tenants.v1.TenantOperationsService/PutCustomField":      {allThree, with(coordinators, platform...)},
	"tenants.v1.TenantOperationsService/GetTenant":           {allThree, with(members, bySystem)},
	"tenants.v1.TenantOperationsService/ListKeys":            {allThree, with(members, bySystem)},
	"tenants.v1.TenantOperationsService/ListKeyAudit":        {allThree, with(administrators, bySystem)},
	"tenants.v1.TenantOperationsService/ListTenantAudit":     {allThree, with(administrators, bySystem)},
	"tenants.v1.TenantOperationsService/ListTenants":         {allThree, platform},

	"tenants.v1.PrivacyOperationsService/ErasePerson":           {workplaces, administrators},
	"tenants.v1.PrivacyOperationsService/ExportPerson":          {workplaces, administrators},
	"tenants.v1.OffboardingOperationsService/OffboardTenant":    {[]identity.Name{identity.Backoffice}, platform},
	"tenants.v1.OffboardingOperationsService/CancelOffboarding": {[]identity.Name{identity.Backoffice}, platform},
	"tenants.v1.OffboardingOperationsService/GetOffboarding":    {[]identity.Name{identity.Backoffice}, platform},
	"tenants.v1.OffboardingOperationsService/ExportTenant":      {[]identity.Name{identity.Backoffice}, platform},

	"orders.v1.OrderOperationsService/ApproveOrder":     {workplaces, coordinators},
	"orders.v1.OrderOperationsService/DispatchOrder":    {workplaces, platform},
	"orders.v1.OrderOperationsService/DeliverOrder":     {workplaces, platform},
	"orders.v1.OrderOperationsService/CancelOrderAs":    {workplaces, members},
	"orders.v1.OrderOperationsService/CorrectStatus":    {workplaces, []string{byOperator}},
	"orders.v1.OrderOperationsService/CorrectTracking":  {workplaces, platform},
	"orders.v1.OrderOperationsService/CorrectDelivery":  {workplaces, members},
	"orders.v1.OrderOperationsService/PlaceOrderAs":     {workplaces, members},
	"orders.v1.OrderOperationsService/PostMessageAs":    {workplaces, with(members, byClient, bySystem)},
	"orders.v1.OrderOperationsService/AddInternalNote":  {workplaces, platform},
	"orders.v1.OrderOperationsService/ListConversation": {workplaces, with(members, byClient)},
	"orders.v1.OrderOperationsService/ReadOrder":        {workplaces, members},
	"orders.v1.OrderOperationsService/SearchOrders":     {workplaces, members},
	"orders.v1.OrderOperationsService/ListAudit":        {workplaces, administrators},

	"personallinks.v1.PersonalLinkOperationsService/ApprovePersonalLink":      {workplaces, coordinators},
	"personallinks.v1.PersonalLinkOperationsService/ApprovePersonalLinkBatch": {workplaces, coordinators},
	"personallinks.v1.PersonalLinkOperationsService/CancelPersonalLinkAs":     {workplaces, members},
	"personallinks.v1.PersonalLinkOperationsService/ReadPersonalLink":         {workplaces, members},
	"personallinks.v1.PersonalLinkOperationsService/ListPersonalLinkBatch":    {workplaces, members},

	"giftsite.v1.GiftSiteOperationsService/PreviewGiftSite": {allThree, with(members, bySystem)},

	"webhook.v1.WebhookOperationsService/ListDeliveries":   {allThree, with(members, bySystem)},
	"webhook.v1.WebhookOperationsService/GetBacklog":       {allThree, with(members, bySystem)},
	"webhook.v1.WebhookOperationsService/GetDelivery":      {allThree, with(coordinators, platform...)},
	"webhook.v1.WebhookOperationsService/ResendDelivery":   {allThree, with(coordinators, platform...)},
	"webhook.v1.WebhookOperationsService/ResendDeliveries": {allThree, with(coordinators, platform...)},

	"catalog.v1.ProductOperationsService/SetProductState":        {operations, platform},
	"catalog.v1.ProductOperationsService/SetProductPrices":       {operations, platform},
	"catalog.v1.ProductOperationsService/SetProductAvailability": {operations, platform},
	"catalog.v1.ProductOperationsService/SetProductTranslations": {operations, platform},
	"catalog.v1.ProductOperationsService/GetProductRecord":       {programs: operations},
	"catalog.v1.ProductOperationsService/ListProductRecords":     {programs: operations},
	"catalog.v1.ProductOperationsService/ListRegions":            {programs: operations},
	"catalog.v1.ProductOperationsService/ListExchangeRates":      {programs: operations},
	"catalog.v1.ProductOperationsService/ListAudit":              {programs: operations},
	"catalog.v1.CampaignOperationsService/StartCampaign":         {operations, platform},
	"catalog.v1.CampaignOperationsService/CompleteCampaign":      {operations, platform},
	"catalog.v1.CampaignOperationsService/PutOffering":           {operations, platform},
	"catalog.v1.CampaignOperationsService/RemoveOffering":        {operations, platform},
	"catalog.v1.CampaignOperationsService/ResumeOffering":        {operations, platform},
	"catalog.v1.CampaignOperationsService/CorrectStock":          {operations, platform},
	"catalog.v1.CampaignOperationsService/SetCampaignGreetings":  {operations, platform},
	"catalog.v1.CampaignOperationsService/GetCampaignRecord":     {programs: operations},
	"catalog.v1.CampaignOperationsService/ListCampaignRecords":   {programs: operations},
	"catalog.v1.CatalogOperationsService/PutRegion":              {programs: operations},
	"catalog.v1.CatalogOperationsService/PutExchangeRate":        {programs: operations},
	"catalog.v1.CatalogOperationsService/PutCategory":            {programs: operations},
	"catalog.v1.CatalogOperationsService/PutProduct":             {programs: operations},
	"catalog.v1.CatalogOperationsService/UploadImage":            {programs: operations},
	"catalog.v1.CatalogOperationsService/PutCampaign":            {programs: operations},
	"catalog.v1.BrandLogosService/UploadBrandLogo":               {programs: operations},
	"catalog.v1.BrandLogosService/UploadBrandHero":               {programs: operations},
	"catalog.v1.ImportService/ImportProducts":                    only(identity.Operator),

	// Programs call these for themselves, or the gateway for a key or a player.
	"tenants.v1.DirectoryService/ResolveKey":                only(directoryCallers...),
	"tenants.v1.DirectoryService/GetTenantSettings":         only(directoryCallers...),
	"tenants.v1.DirectoryService/ListEndpoints":             only(directoryCallers...),
	"tenants.v1.DirectoryService/GetEndpoints":              only(directoryCallers...),
	"catalog.v1.ImagesService/GetImage":                     only(identity.Gateway),
	"catalog.v1.OrderingService/CheckItem":                  only(identity.Orders),
	"catalog.v1.OrderingService/PreviewItem":                only(identity.Orders),
	"catalog.v1.OrderingService/Reserve":                    only(identity.Orders),
	"catalog.v1.OrderingService/SettleReservations":         only(identity.Orders),
	"catalog.v1.OrderingService/ListExpiredReservations":    only(identity.Orders),
	"catalog.v1.OrderingService/ListReservations":           only(identity.Orders),
	"catalog.v1.SelectionsService/CheckSelection":           only(identity.PersonalLinks),
	"catalog.v1.SelectionsService/ListSelectionGifts":       only(identity.PersonalLinks),
	"catalog.v1.SelectionsService/GetOrderedGift":           only(identity.PersonalLinks),
	"catalog.v1.CurrenciesService/CheckCurrency":            only(identity.Tenants),
	"orders.v1.ClaimsService/PlaceClaimedOrder":             only(identity.PersonalLinks),
	"orders.v1.ClaimsService/AbandonClaimedOrder":           only(identity.PersonalLinks),
	"orders.v1.ClaimsService/GetClaimedOrder":               only(identity.PersonalLinks),
	"orders.v1.ClaimsService/CorrectClaimedOrder":           only(identity.PersonalLinks),
	"orders.v1.ClaimsService/ThankForClaimedOrder":          only(identity.PersonalLinks),
	"common.v1.IdempotencyRegisterService/ClaimKey":         only(identity.Gateway),
	"common.v1.IdempotencyRegisterService/ReleaseKey":       only(identity.Gateway),
	"personallinks.v1.GiftSiteService/GetClaimPage":         only(identity.Gateway),
	"personallinks.v1.GiftSiteService/ClaimLink":            only(identity.Gateway),
	"personallinks.v1.GiftSiteService/GetClaimDraft":        only(identity.Gateway),
	"personallinks.v1.GiftSiteService/SaveClaimDraft":       only(identity.Gateway),
	"personallinks.v1.GiftSiteService/GetClaimedGift":       only(identity.Gateway),
	"personallinks.v1.GiftSiteService/CorrectClaimedGift":   only(identity.Gateway),
	"personallinks.v1.GiftSiteService/ReopenClaimedGift":    only(identity.Gateway),
	"personallinks.v1.GiftSiteService/ThankForClaimedGift":  only(identity.Gateway),
	"personallinks.v1.GiftSiteService/GetPreviewPage":       only(identity.Gateway),
	"personallinks.v1.ClaimRecordsService/ListClaimRecords": only(identity.Orders),
	"personallinks.v1.ClaimRecordsService/RestoreClaim":     only(identity.Orders),
	"events.v1.FeedRecordsService/ListFeedTenants":          only(identity.Orders),
	"events.v1.FeedRecordsService/ListOrderEvents":          only(identity.Orders),
	"events.v1.EventOperationsService/WatchEvents":          {workplaces, with(coordinators, platform...)},
	"events.v1.FeedNoticesService/WatchFeed":                only(identity.Gateway),
	"events.v1.FeedEventsService/ListFeedEvents":            only(identity.Webhook),
	"privacy.v1.PersonalDataService/FindPersonRecords":      only(identity.Tenants),
	"privacy.v1.PersonalDataService/ErasePersonRecords":     only(identity.Tenants),
	"privacy.v1.PersonalDataService/ExportPersonRecords":    only(identity.Tenants),
	"privacy.v1.RecordEventsService/EraseRecordEvents":      only(identity.Tenants),
	"privacy.v1.TenantDataService/CountTenant":              only(identity.Tenants),
	"privacy.v1.TenantDataService/ExportTenant":             only(identity.Tenants),
	"privacy.v1.TenantDataService/EraseTenant":              only(identity.Tenants),
}

var directoryCallers = []identity.Name{
	identity.Gateway, identity.Catalog, identity.Orders, identity.PersonalLinks, identity.Events, identity.Webhook,
}

// methods are all calls of the contracts that no API key makes, by their names in plane.
func methods() map[string]protoreflect.MethodDescriptor {
	found := map[string]protoreflect.MethodDescriptor{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			all := file.Services().Get(i).Methods()
			for j := range all.Len() {
				m := all.Get(j)
				name, ours := strings.CutPrefix(string(m.Parent().FullName()), "gifting.")
				if ours && !proto.HasExtension(m.Options(), annotations.E_Http) {
					found[name+"/"+string(m.Name())] = m
				}
			}
		}
		return true
	})
	return found
}

func TestEveryInternalCallIsInTheTableOfThePlane(t *testing.T) {
	t.Parallel()
	found := methods()
	for name, m := range found {
		require.Contains(t, plane, name, "say who may make the call")
		named := m.Input().Fields().ByName("actor") != nil
		require.Equal(t, named, len(plane[name].persons) > 0, "%s: a call with an actor is for persons", name)
	}
	require.Len(t, plane, len(found))
}

// testPlane makes every call by every program for every person who may not, over mutual TLS. Each is refused for the right reason.
// Whom the services accept is tested in their own packages.
func (s stack) testPlane(t *testing.T) {
	key := s.NewKey(t, seed.Direct)
	order, _ := s.Post(t, s.DemoKey(t), "/orders", s.Order(t)).OK(t)["id"].(string)
	f := filler{tenant: seed.Direct, order: order, key: key.GetKey().GetId()}
	persons := map[string]*commonv1.Actor{
		byAdministrator: s.member(t, seed.Direct, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR),
		byCoordinator:   s.member(t, seed.Direct, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR),
		byMember:        s.member(t, seed.Direct, tenantsv1.TeamRole_TEAM_ROLE_MEMBER),
		byStranger:      s.administrator(t, seed.Approving),
		byMadeUp:        {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: uuid.NewString(), Name: "Mallory"},
		byClient:        {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "client-1", Name: "Mallory"},
		byOperator:      {Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-1", Name: "Kim"},
		bySystem:        {Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM},
	}
	variables := map[string]string{
		"tenants": "GIFTING_GRPC_TENANTS", "catalog": "GIFTING_GRPC_CATALOG", "orders": "GIFTING_GRPC_ORDERS",
		"personallinks": "GIFTING_GRPC_LINKS", "events": "GIFTING_GRPC_EVENTS", "webhook": "GIFTING_GRPC_WEBHOOK",
		"common": "GIFTING_GRPC_ORDERS", "privacy": "GIFTING_GRPC_ORDERS", "giftsite": "GIFTING_GRPC_GATEWAY",
	}
	for service, variable := range variables {
		conn := s.Conn(t, variable)
		for name, m := range methods() {
			if !strings.HasPrefix(name, service+".") {
				continue
			}
			conn := conn
			if strings.HasPrefix(name, "privacy.v1.RecordEventsService/") {
				conn = s.Conn(t, "GIFTING_GRPC_EVENTS") // Orders holds no events.
			}
			t.Run(name, func(t *testing.T) {
				for _, from := range identity.Names() {
					as, err := conn.As(from)
					require.NoError(t, err)
					for who, by := range persons {
						want := plane[name].refusal(from, who)
						if want == "" {
							continue
						}
						path := fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
						err := as.Invoke(t.Context(), path, f.request(m, by), dynamicpb.NewMessage(m.Output()))
						require.Equal(t, want, reasonOf(err), "by %s for the %s: %v", from, who, err)
					}
				}
			})
		}
	}
}

// refusal is why the call is refused; empty: it may be accepted.
func (r row) refusal(from identity.Name, who string) string {
	ofTeam := !slices.Contains(platform, who)
	switch {
	case !slices.Contains(r.programs, from):
		return "caller_not_allowed"
	case len(r.persons) == 0 || slices.Contains(r.persons, who) && ofTeam == (from == identity.Workspace):
		return ""
	case ofTeam != (from == identity.Workspace):
		return "actor_not_allowed"
	case (who == byStranger || who == byMadeUp) && slices.Contains(r.persons, byAdministrator):
		return "not_found"
	default:
		return "insufficient_scope"
	}
}

// reasonOf is the reason in the details of an error.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// filler makes requests whose fields are valid, because a request with errors is refused before anything else.
type filler struct {
	tenant, order string
	key           int32
}

func (f filler) request(m protoreflect.MethodDescriptor, by *commonv1.Actor) proto.Message {
	req := dynamicpb.NewMessage(m.Input())
	f.fill(req)
	if actor := m.Input().Fields().ByName("actor"); actor != nil {
		req.Set(actor, protoreflect.ValueOfMessage(converted(by, actor.Message())))
	}
	switch m.Name() {
	case "PutTenant":
		req.Set(m.Input().Fields().ByName("id"), protoreflect.ValueOfString(f.tenant))
	case "CorrectDelivery":
		req.Set(m.Input().Fields().ByName("courier_comment"), protoreflect.ValueOfString("x"))
	case "CorrectStatus":
		req.Set(m.Input().Fields().ByName("status"), protoreflect.ValueOfEnum(ordersv1.OrderStatus_ORDER_STATUS_CANCELLED.Number()))
	case "SearchOrders":
		req.Set(m.Input().Fields().ByName("tenant_id"), protoreflect.ValueOfString(f.tenant))
	}
	return req
}

// converted is the message with the descriptor of another registry entry.
func converted(from proto.Message, to protoreflect.MessageDescriptor) protoreflect.Message {
	out := dynamicpb.NewMessage(to)
	encoded, err := proto.Marshal(from)
	if err == nil {
		err = proto.Unmarshal(encoded, out)
	}
	if err != nil {
		panic(err) // Both have the same descriptor.
	}
	return out
}

// fill sets the fields that are neither optional nor repeated.
func (f filler) fill(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		oneof := field.ContainingOneof()
		if field.IsList() || field.IsMap() || field.HasOptionalKeyword() || field.Name() == "actor" ||
			oneof != nil && oneof.Fields().Get(0) != field {
			continue
		}
		switch field.Kind() {
		case protoreflect.MessageKind:
			f.message(m, field)
		case protoreflect.StringKind:
			m.Set(field, protoreflect.ValueOfString(f.text(string(field.Name()))))
		case protoreflect.EnumKind:
			m.Set(field, protoreflect.ValueOfEnum(1))
		case protoreflect.Int32Kind:
			m.Set(field, protoreflect.ValueOfInt32(f.key))
		default:
		}
	}
}

func (f filler) message(m protoreflect.Message, field protoreflect.FieldDescriptor) {
	switch field.Message().FullName() {
	case "google.protobuf.Duration":
	case "google.protobuf.Timestamp":
		at := time.Now()
		if strings.HasSuffix(string(field.Name()), "_from") {
			at = at.Add(-time.Minute)
		}
		m.Set(field, protoreflect.ValueOfMessage(converted(timestamppb.New(at), field.Message())))
	default:
		f.fill(m.Mutable(field).Message())
	}
}

func (f filler) text(field string) string {
	switch {
	case field == "tenant_id":
		return f.tenant
	case field == "order_id":
		return f.order
	case field == "id" || strings.HasSuffix(field, "_id"):
		return uuid.NewString()
	case field == "currency":
		return "SEK"
	case field == "country":
		return "SE"
	case field == "email":
		return "mallory@stranger.example"
	case strings.HasSuffix(field, "url"):
		return "https://stranger.example/x"
	default:
		return "x"
	}
}

// administrator is the first Administrator of the tenant's team.
func (s stack) administrator(t *testing.T, tenantID string) *commonv1.Actor {
	t.Helper()
	return s.member(t, tenantID, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR)
}

// member is the first active member of the tenant's team with the role.
func (s stack) member(t *testing.T, tenantID string, role tenantsv1.TeamRole) *commonv1.Actor {
	t.Helper()
	tenant, err := s.Tenants(t).GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: seed.Installer, TenantId: tenantID})
	require.NoError(t, err)
	for _, m := range tenant.GetTeam() {
		if m.GetActive() && m.GetRole() == role {
			return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: m.GetId(), Name: m.GetName()}
		}
	}
	require.Fail(t, "the tenant has no such member", role)
	return nil
}
