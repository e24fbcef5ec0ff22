package operation

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// SandboxPrefix begins the paths of the operations that exist only in the sandbox.
const SandboxPrefix = "/sandbox/"

// sandboxContracts are those that only the sandbox has.
func sandboxContracts() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		ordersv1.File_gifting_orders_v1_sandbox_proto,
	}
}

// sandboxRules has a row for every operation of the sandbox. An operation whose members are all optional needs no body.
func sandboxRules() map[string]rule {
	return map[string]rule{
		ordersv1.SandboxOrdersService_ApproveSandboxOrder_FullMethodName: {scope: orders, bodyOptional: true},
	}
}
