const shapes = {
  overview: 'M3 13h4v8H3zM10 8h4v13h-4zM17 3h4v18h-4z',
  orders: 'M9 3h6M10 3v7l-5 8a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-8V3M8 15h8',
  users:
    'M16 20v-2a4 4 0 0 0-4-4H7a4 4 0 0 0-4 4v2M9.5 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M21 20v-2a4 4 0 0 0-3-3.9M16 3.1a3.5 3.5 0 0 1 0 6.8',
  webhooks:
    'M12 3v6M12 15v6M5 12H3M21 12h-2M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6M6.3 6.3l-1.4-1.4M19.1 19.1l-1.4-1.4M17.7 6.3l1.4-1.4M4.9 19.1l1.4-1.4',
  events: 'M4 6h16M4 12h10M4 18h13',
  tests: 'M4 4h16v16H4zM4 10h16M10 4v16',
  pipelines: 'M3 7h7v10h11M17 13l4 4-4 4M3 7V4M3 7v3',
  sources: 'M8 3v5M16 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  pulse: 'M3 12h4l3-8 4 16 3-8h4',
  keys: 'M14.5 9.5a4 4 0 1 1 0-.01M11.6 12.4 4 20v1h3v-2h2v-2h2l1.6-1.6',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
  teams: 'M3 21V8l6-4 6 4v13M15 12h6v9M7 11h4M7 15h4',
  people: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8M4 21a8 8 0 0 1 16 0',
  accounts: 'M3 7h18v12H3zM8 7V4h8v3M3 12h18',
  audit: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  inbox: 'M3 13h5l2 3h4l2-3h5M5 5h14l2 8v6H3v-6z',
  mail: 'M3 6h18v12H3zM3 7l9 6 9-6',
  kits: 'M3 8l9-5 9 5v8l-9 5-9-5zM3 8l9 5 9-5M12 13v8',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M4 12l5 5L20 6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M21 21l-5-5',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 7v5l3 2',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10',
  auto: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 3v18',
  close: 'M6 6l12 12M18 6 6 18',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6',
  plus: 'M12 5v14M5 12h14',
  left: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  out: 'M9 4H4v16h5M15 8l4 4-4 4M19 12H9',
  docs: 'M5 3h10l4 4v14H5zM15 3v4h4M8 12h8M8 16h6',
} as const

export type IconName = keyof typeof shapes

export const Icon = ({ name }: { name: IconName }) => (
  <svg
    viewBox="0 0 24 24"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.8"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={shapes[name]} />
  </svg>
)
