// What the blocks of README.md leave to the reader.
import type * as sdk from "@partnergifting/sdk";

declare global {
  type CatalogPosition = sdk.CatalogPosition;
  const ApiError: typeof sdk.ApiError;
  const client: sdk.Client;
  const id: string;
  const order: sdk.PlaceOrderRequest;
  const products: Map<string, sdk.Product>;
  const signal: AbortSignal;
  function handle(event: sdk.GiftingEvent): Promise<void>;
  function load(): Promise<any>;
  function queue(order: sdk.Order): void;
  function save(state: string | sdk.CatalogPosition | null): Promise<void>;
  function transaction(work: () => Promise<void>): Promise<void>;
}
