import { encode } from 'uqr'

/** Whole pixels keep every module the same size. */
const PIXELS_PER_MODULE = 4

/** Always dark on light with a quiet zone, because scanners need both in any theme. */
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
