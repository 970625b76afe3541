// Collects a test's misuse of the fake lab, thrown when it stops.

export type Complaints = {
  add(complaint: string): void;
  all(): readonly string[];
};

export function noComplaints(): Complaints {
  const complaints: string[] = [];
  return {
    add: (complaint) => void complaints.push(complaint),
    all: () => [...complaints],
  };
}
