import { Head } from '../../ui/head.tsx'

export const Teams = () => <Head title="Teams" />
