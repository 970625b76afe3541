// What no test should ever do to the laboratory: kept until it stops, and thrown then.

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
