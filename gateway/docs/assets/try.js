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

  // The key that the console has in this tab.
  const key = () => {
    try {
      return sessionStorage.getItem('gifting-key') ?? ''
    } catch {
      return '' // The browser stores nothing, so the console has no key.
    }
  }

  // Each POST is an operation of its own, unless the reader gives it a key.
  const freshKey = ({ requestBuilder }) => {
    const { headers, method } = requestBuilder
    if (method.toUpperCase() === 'POST' && !headers.get('Idempotency-Key')) headers.set('Idempotency-Key', crypto.randomUUID())
  }

  // Scalar's buttons to copy have no name, those to show more another one than readers see, and keys cannot scroll its lists, code and tables.
  const makeAccessible = () => {
    for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) button.setAttribute('aria-label', 'Copy')
    for (const button of document.querySelectorAll('.show-more[aria-label]')) button.removeAttribute('aria-label')
    for (const scrollable of document.querySelectorAll('#reference :is(.endpoints, .custom-scroll, table:not([role])):not([tabindex])')) scrollable.tabIndex = 0
  }
  new MutationObserver(makeAccessible).observe(document.documentElement, { childList: true, subtree: true })

  document.addEventListener('DOMContentLoaded', () => Scalar.createApiReference('#reference', {
    url: script.dataset.document,
    hiddenClients: true,
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'apiKey', securitySchemes: { apiKey: { token: key() } } },
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
