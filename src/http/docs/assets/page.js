/** Sets text as a text node, so text is never parsed as HTML. */
export function element(tag, text, attributes = {}) {
  const node = document.createElement(tag)
  if (text) node.textContent = text
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  return node
}

/** Announces a text to screen readers. */
export function announce(text) {
  document.getElementById('announcement').textContent = text
}
