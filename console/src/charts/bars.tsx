import './charts.css'
import { Link } from '../router.tsx'

type Bar = { name: string; value: number; text: string; to?: string; tone?: string }

export function Bars({ bars, label }: { bars: Bar[]; label: string }) {
  const max = Math.max(...bars.map(({ value }) => value), 1)
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, value, text, to, tone }) => {
        const content = (
          <>
            <span>{name}</span>
            <span class="track" aria-hidden="true">
              <span
                class="fill"
                style={{
                  width: value ? `max(2px, ${(value / max) * 100}%)` : '0',
                  display: 'block',
                  ...(tone ? { background: `var(--${tone})` } : {}),
                }}
              />
            </span>
            <span class="right">{text}</span>
          </>
        )
        return <li key={name}>{to ? <Link to={to}>{content}</Link> : <span class="bar">{content}</span>}</li>
      })}
    </ul>
  )
}
