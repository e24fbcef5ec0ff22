package operation

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// SandboxPrefix begins the paths of the operations that exist only in the sandbox.
const SandboxPrefix = "/sandbox/"

// sandboxContracts are those that only the sandbox has.
func sandboxContracts() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		ordersv1.File_gifting_orders_v1_sandbox_proto,
		personallinksv1.File_gifting_personallinks_v1_sandbox_proto,
		catalogv1.File_gifting_catalog_v1_sandbox_proto,
	}
}

// sandboxRules has a row for every operation of the sandbox.
func sandboxRules() map[string]rule {
	return map[string]rule{
		ordersv1.SandboxOrdersService_ApproveSandboxOrder_FullMethodName:    {scope: orders},
		ordersv1.SandboxOrdersService_DispatchSandboxOrder_FullMethodName:   {scope: orders},
		ordersv1.SandboxOrdersService_DeliverSandboxOrder_FullMethodName:    {scope: orders},
		ordersv1.SandboxOrdersService_CorrectSandboxTracking_FullMethodName: {scope: orders},
		ordersv1.SandboxOrdersService_CorrectSandboxStatus_FullMethodName:   {scope: orders},
		ordersv1.SandboxOrdersService_PostSandboxMessage_FullMethodName: {
			scope:   orders,
			success: http.StatusCreated,
			created: postedInSandbox,
		},

		personallinksv1.SandboxPersonalLinksService_ApproveSandboxPersonalLink_FullMethodName: {scope: personalLinks},
		personallinksv1.SandboxPersonalLinksService_ClaimSandboxPersonalLink_FullMethodName:   {scope: personalLinks},

		catalogv1.SandboxCatalogService_SetSandboxStock_FullMethodName:            {scope: catalog},
		catalogv1.SandboxCatalogService_UnlistSandboxProduct_FullMethodName:       {scope: catalog},
		catalogv1.SandboxCatalogService_RelistSandboxProduct_FullMethodName:       {scope: catalog},
		catalogv1.SandboxCatalogService_SetSandboxProductAvailable_FullMethodName: {scope: catalog},
	}
}

// postedInSandbox is the path of the messages of an order, as for a message that the key posts itself.
func postedInSandbox(path string, _ proto.Message) string {
	order, _, _ := strings.Cut(strings.TrimPrefix(path, strings.TrimSuffix(SandboxPrefix, "/")), ":")
	return order + "/messages"
}
