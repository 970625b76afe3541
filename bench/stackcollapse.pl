#!/usr/bin/env perl
# Folds a call graph of pmcstat -G as a plain Perl program does, line by line: what `ppsgate fold` is held against.
# By hand: perl bench/stackcollapse.pl GRAPH > STACKS
use strict;
use warnings;

my (@names, $count);
my $depth = -1;

sub print_branch {
    print join(';', map { $_ // '' } reverse @names[0 .. $depth]), " $count\n";
}

while (my $line = <>) {
    next unless $line =~ /^(\x20*)[\d.]+%\x20\x20\[(\d+)\]\s*(\S+)/;
    my ($indent, $samples, $name) = (length $1, $2, $3);
    print_branch() if $indent <= $depth;
    ($depth, $count) = ($indent, $samples);
    $names[$depth] = $name;
}
print_branch() if $depth >= 0;
