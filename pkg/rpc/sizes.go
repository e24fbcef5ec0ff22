package rpc

import (
	"context"
	"strconv"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

const (
	// MaxMessageBytes has room for the API's largest body of 10 MB in its wire form.
	MaxMessageBytes = 32 << 20
	// maxUpload has room for an image of more than 10 MB, which the service refuses, and for a batch of an import.
	maxUpload = 12 << 20
	// maxRequest is the limit of all other requests.
	maxRequest = 4 << 20
)

// uploads are the methods of the operations plane with large requests.
var uploads = map[string]bool{
	"/gifting.catalog.v1.CatalogOperationsService/UploadImage": true,
	"/gifting.catalog.v1.BrandLogosService/UploadBrandLogo":    true,
	"/gifting.catalog.v1.ImportService/ImportProducts":         true,
}

// largestRequest is the limit of a method's request messages.
func largestRequest(service, method string) int64 {
	full := "/" + service + "/" + method
	switch {
	case full == healthpb.Health_Check_FullMethodName:
		return leastMessage
	case uploads[full]:
		return maxUpload
	case hasBody(service, method):
		return MaxMessageBytes
	default:
		return maxRequest
	}
}

// hasBody reports whether the method's request is the body of a public request.
func hasBody(service, method string) bool {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		return false
	}
	rule, _ := proto.GetExtension(found.Options(), annotations.E_Http).(*annotations.HttpRule)
	return rule.GetBody() != ""
}

// sizeHeader has the size of the request message, because HTTP/2 does not announce it. Clients other than Dial's need not send
// it: until their message has arrived, it counts as the largest of the method.
const sizeHeader = "gifting-message-bytes"

// DeclareSize is an interceptor of clients that sends the size, rounded up so that the values of most calls are equal and cost one byte of a connection.
func DeclareSize(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if message, ok := req.(proto.Message); ok {
		size := (proto.Size(message) + leastMessage - 1) / leastMessage * leastMessage
		ctx = metadata.AppendToOutgoingContext(ctx, sizeHeader, strconv.Itoa(max(size, leastMessage)))
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// declaredSize returns the size that the client sent, or most if it sent none.
func declaredSize(ctx context.Context, most int64) int64 {
	sent := metadata.ValueFromIncomingContext(ctx, sizeHeader)
	if len(sent) != 1 {
		return most
	}
	size, err := strconv.ParseInt(sent[0], 10, 64)
	if err != nil || size < leastMessage {
		return most
	}
	return size
}
