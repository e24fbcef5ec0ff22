package tools

// This module contains google/api/*.proto, which the platform's protocol files import.
import _ "github.com/grpc-ecosystem/grpc-gateway/utilities"
