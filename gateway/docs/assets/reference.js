// Starts Scalar. It runs before Scalar's file, because that makes its style sheets when it is read.
{
  const script = document.currentScript
  const nonce = document.querySelector('meta[property="csp-nonce"]').content

  // Scalar gives the nonce to one of its style sheets. The libraries in it know nothing of it.
  const create = document.createElement
  document.createElement = function (name, ...rest) {
    const element = create.call(document, name, ...rest)
    if (String(name).toLowerCase() === 'style') element.nonce = nonce
    return element
  }

  // No request may repeat the key of another one, and the example of the document is the same for all.
  const freshKey = ({ requestBuilder }) => {
    if (requestBuilder.headers.has('Idempotency-Key')) requestBuilder.headers.set('Idempotency-Key', crypto.randomUUID())
  }

  document.addEventListener('DOMContentLoaded', () => Scalar.createApiReference('#reference', {
    url: script.dataset.document,
    hideTestRequestButton: script.dataset.sandbox !== 'true',
    hiddenClients: true,
    persistAuth: false,
    onBeforeRequest: freshKey,
    documentDownloadType: 'none',
    hideClientButton: true,
    showDeveloperTools: 'never',
    // Nothing of other hosts.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
  }))
}
