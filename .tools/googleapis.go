package tools

// googleapis carries google/api/*.proto, which the platform's own files import.
import _ "github.com/grpc-ecosystem/grpc-gateway/utilities"
