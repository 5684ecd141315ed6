import { encode } from 'uqr'

/** Whole pixels for each square, so that all are of one size. */
const PIXELS_PER_MODULE = 4

/** An address that a telephone reads from the screen: dark on light whatever the colours of the page, with the margin that readers need. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: 'L', border: 4 })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      style={{ width: `${size * PIXELS_PER_MODULE}px` }}
      shape-rendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  )
}
