import { Head } from '../../ui/head.tsx'

export const Overview = () => <Head title="Overview" />
